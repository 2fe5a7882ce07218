"""A rule failed on this record. The other rules ran; please report it with the record if you can share it.

This is a fault of memidex and not of the record. The log of the server or of the command tells where it happened.

There is no example: a record that makes a rule fail is a fault to be mended.
"""

from memidex.rules.rule import Rule

RULE = Rule("MX901", "rule-crashed", "error")
