import { type Cost, PriceTable } from '../../model/index.js';
import type { TokenUsage, TurnEndReason } from '../../protocol/index.js';
import type { SessionReport } from '../../session/index.js';
import { MODEL_MODULE, withPrices, withServices } from '../profile-services.js';
import { moneyText, sizeText, textFacts, textTable, timeText } from '../text-table.js';
import { document, type ExitCode, type SessionsCall, targetOf } from './call.js';
import { holderText } from './list.js';
import { type ModelDigest, SessionDigest, sumOf, type TurnDigest } from './session-digest.js';
import { problemOf } from './verify.js';

/** What a model was used for, and what that cost where it has a price. */
interface PricedModel extends ModelDigest {
  readonly cost?: Cost;
}

/** `dsh sessions show`. */
export async function show(call: SessionsCall): Promise<ExitCode> {
  const { archive, options, output } = call;
  const target = await targetOf(call);
  const report = await archive.verify(target);
  const digest = new SessionDigest(report.header.seedLength);
  await archive.read(target, (event) => {
    if (event.seq < report.eventCount) digest.add(event);
  });
  const models = await priced(call, digest.models);
  output.stdout.write(options.json ? document(plain(report, digest, models)) : text(report, digest, models));
  return 0;
}

async function priced(
  { profile, options }: SessionsCall,
  models: readonly ModelDigest[],
): Promise<readonly PricedModel[]> {
  return withServices(
    await withPrices(profile, options.prices),
    (scope) => {
      const prices = scope.find(PriceTable);
      return models.map((used) => {
        const cost = prices?.costOf(used.provider, used.model, used.usage);
        return cost === undefined ? used : { ...used, cost };
      });
    },
    ({ module }) => module === MODEL_MODULE,
  );
}

/** One sum a currency: undefined when nothing has a price. */
function costsOf(models: readonly PricedModel[]): readonly Cost[] | undefined {
  const sums = new Map<string, number>();
  for (const { cost } of models) if (cost) sums.set(cost.currency, (sums.get(cost.currency) ?? 0) + cost.amount);
  return sums.size === 0 ? undefined : [...sums].map(([currency, amount]) => ({ amount, currency }));
}

function plain(report: SessionReport, { turns, eventCount }: SessionDigest, models: readonly PricedModel[]): object {
  const { header, title, path, bytes, condition, holder } = report;
  return {
    header,
    title,
    path,
    bytes,
    condition,
    problem: problemOf(report),
    holder,
    eventCount,
    inheritedEvents: header.seedLength ?? 0,
    turns,
    models,
    usage: sumOf(models.map(({ usage }) => usage)),
    cost: costsOf(models),
  };
}

function text(report: SessionReport, { turns, eventCount }: SessionDigest, models: readonly PricedModel[]): string {
  const { header, title, path, bytes, holder } = report;
  const { id, cwd, createdAt, parentSession, seedLength = 0 } = header;
  const isPriced = models.every(({ cost }) => cost !== undefined);
  return [
    textFacts([
      ['session', id],
      ['title', title],
      ['workspace', cwd],
      ['created', timeText(createdAt)],
      ['log', `${path} (${sizeText(bytes)})`],
      ['condition', problemOf(report) ?? 'sound'],
      ['in use', holder && holderText(holder).replace(/^in use /, '')],
      ['parent', parentSession],
      ['events', seedLength === 0 ? `${eventCount}` : `${eventCount}, the first ${seedLength} inherited`],
      ['tokens', usageText(sumOf(models.map(({ usage }) => usage)))],
      [
        'cost',
        costsOf(models)
          ?.map(moneyText)
          .join(' + ')
          .concat(isPriced ? '' : ', and what has no price'),
      ],
    ]),
    turns.length === 0 ? '' : `\n${textTable(TURN_HEAD, turns.map(turnRow))}`,
    models.length === 0 ? '' : `\n${textTable(MODEL_HEAD, models.map(modelRow))}`,
  ].join('');
}

const TURN_HEAD = ['TURN', 'STARTED', 'SECONDS', 'STEPS', 'TOOLS', 'END'];
const MODEL_HEAD = ['PROVIDER', 'MODEL', 'CALLS', 'TOKENS', 'COST'];

function turnRow({ turn, startedAt, endedAt, steps, toolCalls, reason, inherited }: TurnDigest): string[] {
  const seconds = endedAt === undefined ? '-' : ((endedAt - startedAt) / 1000).toFixed(1);
  const end = reason === undefined ? 'open' : reasonText(reason);
  const counts = [String(steps), String(toolCalls)];
  return [String(turn), timeText(startedAt), seconds, ...counts, inherited ? `${end} (inherited)` : end];
}

function modelRow({ provider, model, calls, usage, cost }: PricedModel): string[] {
  return [provider, model, String(calls), usageText(usage), cost === undefined ? '-' : moneyText(cost)];
}

function reasonText(reason: TurnEndReason): string {
  if (reason.kind === 'error') return `error ${reason.error.code}: ${reason.error.message}`;
  return reason.kind === 'aborted' ? `aborted (${reason.reason.kind})` : reason.kind;
}

function usageText({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  reasoningTokens,
}: TokenUsage): string {
  const cached = cacheReadTokens === undefined ? '' : ` + ${cacheReadTokens} cached`;
  const written = cacheWriteTokens === undefined ? '' : ` + ${cacheWriteTokens} into the cache`;
  const thought = reasoningTokens === undefined ? '' : ` (${reasoningTokens} reasoning)`;
  return `${inputTokens}${cached}${written} in, ${outputTokens} out${thought}`;
}
