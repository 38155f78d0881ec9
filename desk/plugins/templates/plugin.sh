#!/bin/sh
# Tags memories that name a ticket, such as LDG-4019. One line of JSON in, one out.
read -r message
case $message in
  *[A-Z][A-Z]-[0-9]*) echo '{"change": {"tags": ["ticket"]}}' ;;
  *) echo '{}' ;;
esac
