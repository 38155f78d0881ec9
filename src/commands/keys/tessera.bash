# Ctrl-X m inserts the text of a memory, chosen with `tessera browse`.
__tessera_browse() {
    local chosen
    chosen="$(tessera browse --print </dev/tty)" || return
    READLINE_LINE="${READLINE_LINE:0:READLINE_POINT}${chosen}${READLINE_LINE:READLINE_POINT}"
    READLINE_POINT=$((READLINE_POINT + ${#chosen}))
}
[[ $- == *i* ]] && bind -x '"\C-xm": __tessera_browse'
