import { isDeepStrictEqual } from 'node:util';
import type { PreparedCall } from '../model/index.js';
import type { RequestHeader, SessionEventMap, ToolDefinition } from '../protocol/index.js';
import type { Session } from '../session/index.js';

/**
 * Logs what the model is about to be asked with, where it differs from the last record (core §2.10), and gives it:
 * history and header reproduce the request. Empty members are left out.
 */
export function recordRequest(
  session: Session,
  call: PreparedCall,
  system: string | undefined,
  tools: readonly ToolDefinition[],
): RequestHeader {
  const { config, adapterDefaults = {}, contextWindow } = call;
  const header: RequestHeader = {
    config,
    ...(Object.keys(adapterDefaults).length > 0 && { adapterDefaults }),
    ...(system !== undefined && system !== '' && { system }),
    ...(tools.length > 0 && { tools }),
  };
  const known = session.requestHeader;
  if (!isDeepStrictEqual(header, known)) {
    session.append('request/header', { header, reason: known === undefined ? 'initial' : 'change' });
  }
  const context: SessionEventMap['request/context'] = {
    provider: config.provider,
    model: config.model,
    ...(contextWindow !== undefined && { contextWindow }),
  };
  if (!isDeepStrictEqual(context, session.requestContext)) session.append('request/context', context);
  return header;
}
