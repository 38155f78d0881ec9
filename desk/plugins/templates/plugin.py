#!/usr/bin/env python3
"""Tags memories that name a ticket, such as LDG-4019. One line of JSON in, one out."""

import json
import re
import sys

message = json.loads(sys.stdin.readline())
fields = message.get("fields", {})
tags = fields.get("tags", [])
answer = {}
if re.search(r"\b[A-Z]{2,}-\d+\b", fields.get("content", "")) and "ticket" not in tags:
    answer = {"change": {"tags": tags + ["ticket"]}}
print(json.dumps(answer))
