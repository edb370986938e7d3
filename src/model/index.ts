export { ModelAdapter, type ModelInfo, type ModelRequest, type PreparedCall, type ProviderInfo } from './adapter.js';
export { LlmError } from './errors.js';
export { failureFacts } from './failure-facts.js';
export { type Cost, type ModelPrice, PriceTable } from './prices.js';
export { AdapterRegistry } from './registry.js';
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry-policy.js';
