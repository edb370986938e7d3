import { IsInt, IsPositive } from 'class-validator';
import { Describe } from '../kernel/index.js';
import type { Logger } from '../logging/index.js';
import type { JsonRpcTransport } from '../protocol/index.js';
import type { SessionStore } from '../session/index.js';
import type { RpcChannel } from './channel.js';

/** Config of the server's row. */
export class SdkServerConfig {
  @Describe('Longest request frame that is read, in bytes.')
  @IsInt()
  @IsPositive()
  maxFrameBytes = 32 * 1024 * 1024;
}

/** Opens the channel so that no frame leaves before the logs it tells of were written (decision 1). */
export function openServerTransport(
  config: SdkServerConfig,
  channel: RpcChannel,
  sessions: SessionStore,
  logger: Logger,
): JsonRpcTransport {
  const log = logger.child('transport');
  return channel.open({
    maxFrameBytes: config.maxFrameBytes,
    beforeWrite: () => sessions.flush(),
    onDiagnostic: ({ kind, message, count, cause }) =>
      log.warn(message, { kind, ...(count !== undefined && { count }), ...(cause !== undefined && { cause }) }),
  });
}
