"""The only room that knows the protocol: it converts, schedules and answers, and decides nothing."""
