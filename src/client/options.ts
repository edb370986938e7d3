import { MAX_TIMER_MS } from '../base/index.js';
import type { TransportDiagnostic } from '../protocol/index.js';
import {
  anyText,
  type ChecksOf,
  callback,
  count,
  environment,
  listOf,
  membersOf,
  milliseconds,
  size,
  text,
} from './option-checks.js';

/** A runtime to start instead of a `dsh` profile: a program of your own, a wrapper, a test double. */
export interface LaunchCommand {
  /** A path (relative ones resolve against this process's directory) or a name that is looked up on `PATH`. */
  readonly command: string;
  readonly args?: readonly string[];
}

/** Tools by name: those of `allow`, or all, without those of `deny`. */
export interface ToolSelection {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** How to start a runtime and what its sessions work with. Everything is optional; the defaults run profile `sdk`. */
export interface HarnessClientOptions {
  /**
   * The `dsh` command line. Default: the one of this package. A path that ends in `.js`, `.mjs` or `.cjs` runs under
   * this process's Node, anything else is executed.
   */
  readonly dshBin?: string;
  /** Profile of the runtime. Default `sdk`. */
  readonly profile?: string;
  /** Patch files on top of the profile, applied in order. */
  readonly patches?: readonly string[];
  /**
   * Who the model is told to be, in place of the profile's persona: a template that may name `{{provider}}`, `{{model}}`
   * and `{{cwd}}`. The row `system-prompt` takes it as `personaPrefix`, from a temporary patch after `patches`.
   */
  readonly systemPrompt?: string;
  /** Which tools the model is given: the row `tools`, likewise. */
  readonly tools?: ToolSelection;
  /** Runs this command instead of a profile; excludes `dshBin`, `profile`, `patches`, `systemPrompt` and `tools`. */
  readonly launch?: LaunchCommand;
  /** Home of the runtime (`DSH_HOME`): sessions, settings, credentials. Default: inherited, else `~/.dsh`. */
  readonly dshHome?: string;
  /** Directory the process starts in. Default: this process's own. */
  readonly processCwd?: string;
  /**
   * The whole environment of the process; nothing is inherited when it is given. Default: this process's own. See
   * `scrubbedParentEnv` for an environment without credentials.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;

  /** Workspace of the sessions. Default: `processCwd`, else this process's directory. */
  readonly cwd?: string;
  /** Provider of the model. Default `deepseek-official`. */
  readonly provider?: string;
  /** Model of the sessions. Default `deepseek-v4-flash`. */
  readonly model?: string;
  /** Default: the provider's. */
  readonly reasoningEffort?: string;
  /** Most tokens of one model answer. Default: the provider's. */
  readonly maxTokens?: number;

  /** Milliseconds until the handshake is given up. Default 10,000. */
  readonly initializeTimeoutMs?: number;
  /** Milliseconds until any other request is given up. Default: never. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds `close()` waits for the runtime's own shutdown. Default 1,000. */
  readonly shutdownTimeoutMs?: number;
  /** Milliseconds `close()` then waits after the end of stdin. Default 6,000. */
  readonly disposeEofGraceMs?: number;
  /** Milliseconds `close()` then waits after SIGTERM, and again after SIGKILL. Default 3,000. */
  readonly disposeGraceMs?: number;

  /** Longest frame that is read, in bytes. Default 128 MiB. */
  readonly maxFrameBytes?: number;
  /**
   * A file to which every frame is added, one JSON line each with time and direction; known credentials of `env` are
   * masked. It is for its owner only.
   */
  readonly trace?: string;
  /** Hears what was dropped or contained: junk on the channel (once a burst), frames over the limit. Must not throw. */
  readonly onDiagnostic?: (diagnostic: TransportDiagnostic) => void;
  /**
   * Hears each line that the runtime writes on stderr, as it comes, and the unterminated last one at the end. Blank lines
   * are left out; of a line over 4 KiB the end is heard, behind an ellipsis. A throw is contained, and a diagnostic.
   */
  readonly onStderr?: (line: string) => void;
}

/** Options of `DeepSeekHarness`. */
export interface DeepSeekHarnessOptions extends HarnessClientOptions {}

/** What only a runtime in a process of its own can be told. */
const PROCESS_OPTIONS = [
  'dshBin',
  'profile',
  'patches',
  'systemPrompt',
  'tools',
  'launch',
  'dshHome',
  'processCwd',
  'env',
  'onStderr',
] as const;

/** Options of `DeepSeekHarness.inProcess`. */
export type InProcessOptions = Omit<DeepSeekHarnessOptions, (typeof PROCESS_OPTIONS)[number]>;

/** The time bounds of a client, defaults filled in. */
export interface TimeBounds {
  readonly initializeTimeoutMs: number;
  readonly requestTimeoutMs: number | undefined;
  readonly shutdownTimeoutMs: number;
  readonly disposeEofGraceMs: number;
  readonly disposeGraceMs: number;
}

const launchCommand: ChecksOf<LaunchCommand> = { command: text, args: listOf('strings', anyText) };
const toolSelection: ChecksOf<ToolSelection> = { allow: listOf('tool names', text), deny: listOf('tool names', text) };
const clientOptions: ChecksOf<HarnessClientOptions> = {
  dshBin: text,
  profile: text,
  patches: listOf('non-blank strings', text),
  systemPrompt: anyText,
  tools: membersOf(toolSelection),
  launch: membersOf(launchCommand, ['command']),
  dshHome: text,
  processCwd: text,
  env: environment,
  cwd: text,
  provider: text,
  model: text,
  reasoningEffort: text,
  maxTokens: count,
  initializeTimeoutMs: milliseconds,
  requestTimeoutMs: milliseconds,
  shutdownTimeoutMs: milliseconds,
  disposeEofGraceMs: milliseconds,
  disposeGraceMs: milliseconds,
  maxFrameBytes: size,
  trace: text,
  onDiagnostic: callback,
  onStderr: callback,
};
const checkMembers = membersOf(clientOptions);

/** @throws TypeError an option is unknown or of the wrong kind, or two contradict each other */
export function checkOptions(options: HarnessClientOptions): void {
  checkMembers('options', options);
  const excluded = (['dshBin', 'profile', 'patches', 'systemPrompt', 'tools'] as const).filter(
    (name) => options[name] !== undefined,
  );
  if (options.launch !== undefined && excluded.length > 0) {
    throw new TypeError(`options.launch cannot be combined with ${excluded.join(', ')}: it replaces the whole command`);
  }
}

/** @throws TypeError an option makes sense for a process only */
export function checkInProcessOptions(options: InProcessOptions): void {
  const extra = PROCESS_OPTIONS.filter((name) => (options as DeepSeekHarnessOptions)[name] !== undefined);
  if (extra.length === 0) return;
  throw new TypeError(
    `options.${extra.join(', options.')} cannot be given to a runtime in this process: tell createRuntime`,
  );
}

/** Milliseconds as a timer takes them. */
export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_MS);
}

/** The bounds that `options` set, defaults filled in, each cut to what a timer takes. */
export function timeBounds(options: HarnessClientOptions): TimeBounds {
  const { initializeTimeoutMs = 10_000, requestTimeoutMs, shutdownTimeoutMs = 1000 } = options;
  const { disposeEofGraceMs = 6000, disposeGraceMs = 3000 } = options;
  return {
    initializeTimeoutMs: timerMs(initializeTimeoutMs),
    requestTimeoutMs: requestTimeoutMs === undefined ? undefined : timerMs(requestTimeoutMs),
    shutdownTimeoutMs: timerMs(shutdownTimeoutMs),
    disposeEofGraceMs: timerMs(disposeEofGraceMs),
    disposeGraceMs: timerMs(disposeGraceMs),
  };
}
