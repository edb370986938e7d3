import { isDeepStrictEqual } from 'node:util';
import type { PreparedCall } from '../model/index.js';
import type { RequestHeader, SessionEventMap, ToolDefinition } from '../protocol/index.js';
import type { Session } from '../session/index.js';

/**
 * Logs what the model is about to be asked with, where it differs from the last record or is the first since the
 * session was continued (core §2.10), and gives it as logged: history and header reproduce the request. Empty members
 * are left out.
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
  const known = session.hasOwnHeader ? session.requestHeader : undefined;
  const same = known !== undefined && isDeepStrictEqual(header, known);
  const logged = same ? known : session.append('request/header', { header, reason: reasonFor(session) }).data.header;
  const context: SessionEventMap['request/context'] = {
    provider: config.provider,
    model: config.model,
    ...(contextWindow !== undefined && { contextWindow }),
  };
  if (!isDeepStrictEqual(context, session.requestContext)) session.append('request/context', context);
  return logged;
}

function reasonFor({ hasOwnHeader, resumed }: Session): SessionEventMap['request/header']['reason'] {
  if (hasOwnHeader) return 'change';
  return resumed ? 'resume' : 'initial';
}
