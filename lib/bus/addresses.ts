// Addresses in capabilities: `host:port`, `127.0.0.1:*`, `*:443`, `[::1]:80`, `unix:/path`.
// Owner: none, stateless. Invariants: two spellings of an address are one text (lower case, IPv6 in
// its canonical form), so covering is comparing texts; a host name is only ever compared as a name:
// what it resolves to is not asked.
// Not here: who is granted what (capabilities.ts).
import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { invalidArgType, invalidArgValue } from '../base/errors.ts';

const PORT_MAX = 65535;
const HOST_NAME = /^(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/;
const NUMBER_AT_END = /(^|\.)(\d+|0x[\da-f]*)\.?$/;
const SHAPES = "must be 'host:port', '[ipv6]:port' or 'unix:/path'; '*' for any host or port";

/** The canonical text. @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE */
export function checkedAddress(name: string, address: unknown): string {
  if (typeof address !== 'string') throw invalidArgType(name, 'of type string', address);
  const canonical = address.startsWith('unix:') ? unixAddress(address) : hostAddress(address);
  if (canonical === undefined) throw invalidArgValue(name, address, SHAPES);
  return canonical;
}

function unixAddress(address: string): string | undefined {
  const path = address.slice('unix:'.length);
  const names = path.split('/').slice(1);
  const isPlain = names.every((name) => name !== '' && name !== '.' && name !== '..');
  return path.startsWith('/') && isPlain && !path.includes('\0') ? address : undefined;
}

function hostAddress(address: string): string | undefined {
  const at = address.lastIndexOf(':');
  const host = canonicalHost(address.slice(0, Math.max(0, at)).toLowerCase());
  const port = address.slice(at + 1);
  const isPort = port === '*' || (/^(0|[1-9]\d{0,4})$/.test(port) && Number(port) <= PORT_MAX);
  return host !== undefined && isPort ? `${host}:${port}` : undefined;
}

function canonicalHost(host: string): string | undefined {
  if (host === '*' || isIPv4(host)) return host;
  if (host.startsWith('[') && host.endsWith(']')) {
    const inner = host.slice(1, -1);
    // A zone names an interface of this machine and is no part of an address.
    if (!isIPv6(inner) || inner.includes('%')) return undefined;
    return `[${new SocketAddress({ address: inner, family: 'ipv6' }).address}]`;
  }
  // Ends in a number without being an IPv4 address: resolvers disagree about what it means.
  if (isIP(host) !== 0 || !HOST_NAME.test(host) || NUMBER_AT_END.test(host)) return undefined;
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** Whether the canonical `pattern` covers the canonical `address`, which may be a pattern too. */
export function coversAddress(pattern: string, address: string): boolean {
  if (pattern === address) return true;
  if (pattern.startsWith('unix:') || address.startsWith('unix:')) return false;
  const patternAt = pattern.lastIndexOf(':');
  const addressAt = address.lastIndexOf(':');
  const isOf = (wanted: string, given: string): boolean => wanted === '*' || wanted === given;
  return (
    isOf(pattern.slice(0, patternAt), address.slice(0, addressAt)) &&
    isOf(pattern.slice(patternAt + 1), address.slice(addressAt + 1))
  );
}
