export { RpcChannel, RuntimeControl, ServerTransport } from './channel.js';
export { MethodHandler } from './method-handler.js';
export { ParamsGuard } from './params-guard.js';
