import type { ContainerModule } from 'inversify';
import type { LogFormat, LogLevel } from '../base/index.js';
import type { ModuleDefinition } from '../kernel/index.js';
import type { PatchOperation, Profile } from '../profile/index.js';
import type { RpcChannel } from '../rpc/index.js';

/** How an embedded runtime is made. */
export interface RuntimeOptions {
  /** Name of a shipped profile or of one in the home directory, or a profile. Default `sdk`. */
  readonly profile?: string | Profile;
  /** On top of the profile, in order: paths of patch files, or lists of operations. */
  readonly patches?: readonly (string | readonly PatchOperation[])[];
  /** Further modules that rows can name, beside the shipped ones, whose names they cannot have. */
  readonly modules?: readonly ModuleDefinition[];
  /** Loaded after all rows: may rebind any service, as tests want to. */
  readonly overrides?: readonly ContainerModule[];
  /**
   * What `${env:…}`, `DSH_HOME`, credentials and endpoints are read from. Default: the process's environment, which is in
   * any case that of the tools' processes.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default `warn`. */
  readonly logLevel?: LogLevel;
  /** Default `text`. */
  readonly logFormat?: LogFormat;
  /** A file to which every frame is added, one JSON line each, with known credentials masked (decision 43). */
  readonly trace?: string;
  /** Where the client is. Default: in this process, see {@link Runtime.connect}. */
  readonly channel?: RpcChannel;
}
