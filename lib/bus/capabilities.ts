// PLACEHOLDER so that the core compiles: whoever owns capabilities overwrites this file.
export interface Capabilities {
  readonly spawn: boolean;
  readonly cancelOthers: boolean;
  readonly configure: boolean;
}
export type CapabilitiesInput = Partial<Capabilities>;
export const ALL_CAPABILITIES: Capabilities = { spawn: true, cancelOthers: true, configure: true };
export function narrow(own: Capabilities, wanted: CapabilitiesInput): Capabilities {
  return { ...own, ...wanted };
}
