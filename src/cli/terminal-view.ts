import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type HarnessNotification, isEvent, type ToolResultBlock } from '../protocol/index.js';

/** The two streams that a run is shown on; they may be the same terminal. */
export interface TerminalViewOptions {
  /** Where thinking and tools are shown. On a terminal it is styled and streamed, elsewhere it is plain lines. */
  readonly progress: Writable;
  /** Where the answer streams to; without one it is not shown. */
  readonly answer: Writable | undefined;
}

const SHOWN_RESULT_LINES = 12;

/** Shows a run to a person as it happens. */
export class TerminalView {
  readonly #progress: Writable;
  readonly #answer: Writable | undefined;
  readonly #isTerminal: boolean;
  #thinking = '';
  /** What has an unfinished line, and where. */
  #open: { readonly kind: 'thinking' | 'answer'; readonly to: Writable } | undefined;

  constructor({ progress, answer }: TerminalViewOptions) {
    this.#progress = progress;
    this.#answer = answer;
    this.#isTerminal = 'isTTY' in progress && progress.isTTY === true;
  }

  /** Shows one notification, in wire order; what is not for people to see is passed over. */
  show({ method, params }: HarnessNotification): void {
    if (method !== 'session.event') return;
    const { event } = params;
    if (isEvent(event, 'assistant/chunk')) {
      const { chunk } = event.data;
      if (chunk.type === 'reasoning-delta') this.#think(chunk.text);
      if (chunk.type === 'text-delta') this.#say(chunk.text);
      if (chunk.type === 'finish') this.#endThinking();
    }
    if (isEvent(event, 'tool/call')) this.#line(`▸ ${event.data.name} ${summary(event.data.arguments)}`, 'cyan');
    if (isEvent(event, 'tool/result')) this.#result(event.data.message.content[0]);
  }

  /** Ends the line that is open. */
  end(): void {
    this.#endThinking();
    this.#endLine();
  }

  #think(text: string): void {
    if (!this.#isTerminal) this.#thinking += text;
    else this.#write('thinking', this.#progress, text, styleText('dim', text, { validateStream: false }));
  }

  #endThinking(): void {
    if (this.#thinking !== '') this.#line(`· ${this.#thinking.trim()}`, 'dim');
    this.#thinking = '';
  }

  #say(text: string): void {
    this.#endThinking();
    if (this.#answer !== undefined) this.#write('answer', this.#answer, text, text);
  }

  #result({ content, isError }: ToolResultBlock): void {
    const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
    const lines = text.split('\n');
    for (const line of lines.slice(0, SHOWN_RESULT_LINES)) this.#line(`  ${line}`, isError === true ? 'red' : 'dim');
    const more = lines.length - SHOWN_RESULT_LINES;
    if (more > 0) this.#line(`  … ${more} more lines`, 'dim');
  }

  #line(text: string, style: 'dim' | 'red' | 'cyan'): void {
    this.#endLine();
    const styled = this.#isTerminal ? styleText(style, text, { validateStream: false }) : text;
    this.#progress.write(`${styled}\n`);
  }

  #write(kind: 'thinking' | 'answer', to: Writable, text: string, styled: string): void {
    if (this.#open?.kind !== kind) this.#endLine();
    to.write(styled);
    this.#open = text.endsWith('\n') ? undefined : { kind, to };
  }

  #endLine(): void {
    this.#open?.to.write('\n');
    this.#open = undefined;
  }
}

/** The command of a shell call, or the arguments as they are. */
function summary(rawArguments: string): string {
  try {
    const { command, path } = JSON.parse(rawArguments) as { command?: unknown; path?: unknown };
    const parts = [command, path].filter((part) => typeof part === 'string');
    return parts.length > 0 ? parts.join(' ') : rawArguments;
  } catch {
    return rawArguments;
  }
}
