#!/bin/sh
# An example of a plugin that is a program: one line of JSON in, one out, and it ends. It works in a directory of its own.
# What was stored or forgotten goes to journal.jsonl there; a memory with a word of forbidden.txt, one a line, is refused.
IFS= read -r message
case $message in
*'"when":"after"'*)
  printf '%s\n' "$message" >>journal.jsonl
  ;;
*)
  if [ -f forbidden.txt ]; then
    while IFS= read -r word; do
      case $message in
      *"$word"*)
        echo '{"refuse": "it holds a word that forbidden.txt names"}'
        exit 0
        ;;
      esac
    done <forbidden.txt
  fi
  ;;
esac
echo '{}'
