"""The memidex language: bundles of Markdown, logs and JSON (contract `memidex.md`, sections 2-9)."""
