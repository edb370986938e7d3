/** What `dsh --help` prints. */
export const HELP = `Usage: dsh --profile NAME [options]
       dsh run [options] PROMPT

Runs a coding agent that programs drive. With --profile it serves newline-delimited
JSON-RPC 2.0 on stdin and stdout; with run it is a client of its own in a terminal.

Profiles: sdk, sdk-minimal

Options
  --profile NAME        boot this profile
  --dump-config         print the profile as it is composed, and exit
  --log-level LEVEL     diagnostics on stderr: error, warn, info, debug
                        (default: warn, or DSH_LOG_LEVEL)
  --log-format FORMAT   text or json (default: text, or DSH_LOG_FORMAT)
  -V, --version         print the version
  -h, --help            print this

dsh run: one prompt in a fresh runtime; the answer goes to stdout, progress to stderr.
PROMPT - reads the prompt from stdin. Exits 0 when the turn completed, else 1.
  --profile NAME        default: sdk-minimal
  --provider ID         default: deepseek-official
  --model ID            default: deepseek-v4-flash
  --cwd DIRECTORY       workspace of the agent; default: the current directory

Environment
  DSH_HOME              home directory, default ~/.dsh
  DEEPSEEK_API_KEY      key of the DeepSeek API
  DEEPSEEK_BASE_URL     default: https://api.deepseek.com
  DSH_OFFLINE_SCRIPT    answers of the model offline/script
`;
