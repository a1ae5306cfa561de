// nephrite: public names only; no logic. Owner: none.
// Not here: files (fs.ts). Importing it makes no system call beyond reading the modules.
export { AbortError, NephriteError, TimeoutError } from './base/errors.ts';
export { Operation } from './base/operation.ts';
export {
  type BackendInfo,
  backend,
  type ConfigureOptions,
  configure,
  type RingOptions,
} from './io/current_thread.ts';
export type { OperationOptions } from './io/operation_options.ts';
