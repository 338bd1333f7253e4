"""The command line: `app` assembles the verbs, each other module holds the verbs of one concern."""
