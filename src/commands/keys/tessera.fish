# Ctrl-X m inserts the text of a memory, chosen with `tessera browse`.
function __tessera_browse
    set -l chosen (tessera browse --print </dev/tty | string collect)
    and commandline --insert -- $chosen
    commandline --function repaint
end
bind \cxm __tessera_browse
