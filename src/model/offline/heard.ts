import { headOf } from '../../base/index.js';
import type { Message } from '../../protocol/index.js';
import { textOfMessage } from './message-text.js';

/** One thing in a history that a replay compares (decision 25). */
interface Heard {
  readonly what: string;
  readonly text: string;
  /** The text is JSON, so what stands in it is escaped. */
  readonly isJson: boolean;
}

/** Stands for any text, in a log that parts were cut out of. */
const ANYTHING = /^\{\{\w+\}\}$/;
const SHOWN_BEFORE = 20;
const SHOWN_CHARS = 80;

/**
 * The first difference between what a model is asked and what was recorded: role, text, names and arguments of tool
 * calls, text of tool results. A recorded text that is `{{name}}` stands for any.
 *
 * @param here what a recorded text is on this machine; either form will do
 * @returns a line for people, or undefined when there is none
 */
export function firstDifference(
  asked: readonly Message[],
  recorded: readonly Message[],
  here: (text: string, isJson: boolean) => string,
): string | undefined {
  const [said, taped] = [asked.flatMap(heardIn), recorded.flatMap(heardIn)];
  for (let at = 0; at < Math.max(said.length, taped.length); at += 1) {
    const [mine, tape] = [said[at], taped[at]];
    if (mine === undefined) return `the recorded ${show(tape)} is missing`;
    if (tape === undefined) return `the ${show(mine)} was not recorded`;
    if (mine.what !== tape.what) return `the ${show(mine)} comes where ${show(tape)} was recorded`;
    if (ANYTHING.test(tape.text) || mine.text === tape.text) continue;
    const expected = here(tape.text, tape.isJson);
    if (mine.text !== expected) return `the ${mine.what} is ${excerpts(mine.text, expected)}`;
  }
  return undefined;
}

function heardIn(message: Message): Heard[] {
  const text = textOfMessage(message);
  if (message.source.kind === 'tool') return [{ what: 'tool result', text, isJson: false }];
  if (message.role === 'user') return [{ what: 'user message', text, isJson: false }];
  const calls = message.content.flatMap((block) =>
    block.type === 'tool-call' ? [{ what: `call of ${block.name}`, text: block.arguments, isJson: true }] : [],
  );
  return text === '' ? calls : [{ what: 'answer', text, isJson: false }, ...calls];
}

function show(heard: Heard | undefined): string {
  return heard === undefined ? '' : `${heard.what} ${quote(heard.text, 0)}`;
}

function excerpts(text: string, recorded: string): string {
  let at = 0;
  while (at < text.length && text[at] === recorded[at]) at += 1;
  const from = Math.max(0, at - SHOWN_BEFORE);
  return `${quote(text, from)}, recorded was ${quote(recorded, from)}`;
}

function quote(text: string, from: number): string {
  const tail = text.slice(from);
  const head = headOf(tail, SHOWN_CHARS);
  return JSON.stringify(`${from > 0 ? '…' : ''}${head}${head === tail ? '' : '…'}`);
}
