# Ctrl-X m inserts the text of a memory, chosen with `tessera browse`.
__tessera_browse() {
    local chosen
    chosen="$(tessera browse --print </dev/tty)" && LBUFFER+="$chosen"
    zle reset-prompt
}
zle -N __tessera_browse
bindkey '^Xm' __tessera_browse
