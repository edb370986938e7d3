import type { Writable } from 'node:stream';
import { AdapterRegistry, type ModelInfo, type ModelPrice, PriceTable, type ProviderInfo } from '../model/index.js';
import { applyEnvFiles } from '../profile/index.js';
import { chosenProfile, type ProfileChoice } from './profile-request.js';
import { withPrices, withServices } from './profile-services.js';
import { textTable } from './text-table.js';

/** What `dsh models` was told on its command line. */
export interface ModelsOptions extends ProfileChoice {
  /** A file of prices in place of the profile's. */
  readonly prices: string | undefined;
  /** One JSON document instead of a table. */
  readonly json: boolean;
}

interface ListedModel extends ModelInfo {
  readonly price?: Omit<ModelPrice, 'provider' | 'model'>;
}
interface ListedProvider extends ProviderInfo {
  readonly models: readonly ListedModel[];
}

/** `dsh models`: what a profile's adapters serve. Needs no key and calls nobody. */
export async function listModels({ prices, json, ...choice }: ModelsOptions, stdout: Writable): Promise<0> {
  applyEnvFiles();
  const priced = await withPrices(await chosenProfile(choice), prices);
  const providers = await withServices(priced, (scope) => listed(scope.get(AdapterRegistry), scope.get(PriceTable)));
  stdout.write(json ? `${JSON.stringify({ providers })}\n` : text(providers));
  return 0;
}

function listed(registry: AdapterRegistry, prices: PriceTable): readonly ListedProvider[] {
  return registry.providers().map((provider) => ({
    ...provider,
    models: registry.models(provider.id).map((model) => {
      const { currency, perMillion } = prices.priceOf(provider.id, model.id) ?? {};
      return currency === undefined || perMillion === undefined ? model : { ...model, price: { currency, perMillion } };
    }),
  }));
}

function text(providers: readonly ListedProvider[]): string {
  const rows = providers.flatMap(({ id, models }) =>
    models.map(({ id: model, contextWindow, maxTokens, reasoningEfforts, inputModalities, price }) => [
      id,
      model,
      String(contextWindow ?? '-'),
      String(maxTokens ?? '-'),
      reasoningEfforts.join(',') || '-',
      inputModalities.join(','),
      price === undefined ? '-' : `${price.perMillion.input} + ${price.perMillion.output} ${price.currency}`,
    ]),
  );
  const open = providers.filter(({ catalog }) => catalog === 'advisory').map(({ id }) => id);
  const note = open.length === 0 ? '' : `\n${open.join(', ')}: models that are not listed are passed on.\n`;
  return textTable(['PROVIDER', 'MODEL', 'CONTEXT', 'OUTPUT', 'EFFORTS', 'INPUT', 'PRICE/M'], rows) + note;
}
