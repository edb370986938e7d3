/** What `dsh --help` prints. */
export const HELP = `Usage: dsh --profile NAME [options]
       dsh run [options] PROMPT
       dsh models [options]
       dsh sessions COMMAND [options]
       dsh plugin --profile NAME add|remove|list [PACKAGE...]

Runs a coding agent that programs drive. With --profile it serves newline-delimited
JSON-RPC 2.0 on stdin and stdout; run is a client of it in a terminal.

dsh --profile NAME      boot a profile: sdk, sdk-minimal, or one of the home directory
  --patch FILE          change it, on top of all else; may be given again
  --from-default-profile TEMPLATE
                        make the profile NAME first, from a shipped one
  --dump-config         print its rows, and which file says what, and exit
  --dump-default-config the same without any patch
  --trace FILE          add every frame to a file, a JSON line each

dsh run PROMPT          run one prompt in a fresh runtime; - reads it from stdin
  --profile NAME        default: sdk-minimal
  --provider ID         default: deepseek-official
  --model ID            default: deepseek-v4-flash
  --cwd DIRECTORY       workspace of the agent; default: the current directory
  --patch FILE, --trace FILE
                        as above
The answer goes to stdout, progress to stderr. Exits 0 when the turn completed.

dsh models              what the profile's providers serve; needs no key, calls nobody
  --profile NAME        default: sdk
  --prices FILE         what models cost, a YAML or JSON list; default: the profile's
  --json                one JSON document

dsh plugin              npm packages of a profile; see dsh plugin --help

dsh sessions COMMAND    look after stored sessions: list, show, verify, repair, compact,
                        export, fork, delete, gc; see dsh sessions --help

--profile and run
  --log-level LEVEL     diagnostics on stderr: error, warn, info, debug
                        (default: DSH_LOG_LEVEL, else warn)
  --log-format FORMAT   text or json (default: DSH_LOG_FORMAT, else text)
  -V, --version         print the version
  -h, --help            print this

Environment
  DSH_HOME              home directory, default ~/.dsh
  DEEPSEEK_API_KEY      key of the DeepSeek API
  DEEPSEEK_BASE_URL     default: https://api.deepseek.com
  DSH_OFFLINE_SCRIPT    answers of the model "script" of provider "offline"
  DSH_OFFLINE_REPLAY    session log that its model "replay" plays
  DSH_SYSTEM_PROMPT     replaces the persona of the system prompt
  DSH_CONTEXT_WINDOW    tokens, for models the catalog does not know; default 1000000
`;
