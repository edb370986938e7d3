/** What `dsh sessions --help` prints. */
export const SESSIONS_HELP = `Usage: dsh sessions COMMAND [SESSION] [options]

Looks after stored sessions. SESSION is a session id; --file PATH takes a log anywhere
instead: a session.jsonl, session.jsonl.gz or session.jsonl.zstd, or its directory.

Reading; good while the session is in use, too
  list                    all sessions, the one changed last first
  show SESSION            title, turns and how they ended, tokens, cost, condition
  verify [SESSION...]     read whole logs, of all sessions by default
  export SESSION          header and events as plain JSON lines

Writing; refused while another process uses the session
  repair SESSION          cut a torn end off, close an open turn
    --drop-damage         give up what stands after a defect; the original is kept
  compact SESSION         pack the closed turns
    --compression FORM    none, gzip or zstd; default: what the profile says
  fork SESSION            begin a session with the closed turns of another; prints its id
    --turn N              the last turn to take; default: the last one that is closed
    --id NEW              id of the new session; default: a UUID
  delete SESSION...       delete sessions with all they have
  gc                      delete what one of these says; nothing without them
    --older-than TIME     not changed for so long: 90s, 15m, 12h, 30d
    --keep N              all but the newest so many
    --max-size SIZE       the oldest, until no more is left: 500M, 1G
    --dry-run             only tell what would go

All
  --json                  for programs: JSON lines from list and export, else one document
  --root DIR              directory of the sessions; default: that of the profile
  --profile NAME          default: sdk
  --prices FILE           show: what models cost, a YAML or JSON list
  -h, --help              print this

Exits 0 when all is well, 1 when verify found a problem or the command failed, 2 when it
was mistyped.
`;
