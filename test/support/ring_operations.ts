// Ring operations: each opcode as one call on a RingDriver, giving the raw result (a value or a
// negative errno). Written against native/abi/layout.h, independently of lib/io.
// Owner: one test. Invariants: nothing throws for an errno; buffers are regions of the driver.
// Not here: pushing and waiting (ring_driver.ts).
import * as abi from '../../lib/abi/layout.ts';
import type { Completion, EntryFields, Region, RingDriver } from './ring_driver.ts';

export type Path = string | Uint8Array;
/** What an operation is about: a path, the link at a path, or a descriptor. */
export type Subject = { path: Path } | { link: Path } | { fd: number };

export const OFFSET_POSITION = -1;

export interface DirectoryRecord {
  readonly name: Buffer;
  readonly kind: number;
}

export class RingOperations {
  readonly driver: RingDriver;

  constructor(driver: RingDriver) {
    this.driver = driver;
  }

  async result(fields: EntryFields): Promise<number> {
    return (await this.driver.run(fields)).result;
  }

  /** The entry's fields that name one or two paths (in an arena: any length). */
  paths(path: Path, path2: Path = ''): Partial<EntryFields> {
    const [first, second] = [Buffer.from(path), Buffer.from(path2)];
    const region = this.driver.region(first.length + second.length + 2);
    region.bytes.fill(0);
    region.bytes.set(first);
    region.bytes.set(second, first.length + 1);
    return {
      flags: abi.ENTRY_HAS_PATH,
      pathArena: region.arena,
      pathOffset: region.offset,
      pathBytes: first.length,
      path2Bytes: second.length,
    };
  }

  buffer(region: Region): Partial<EntryFields> {
    return {
      flags: abi.ENTRY_HAS_BUFFER,
      arena: region.arena,
      bufferOffset: region.offset,
      bufferBytes: region.bytes.length,
    };
  }

  subject(subject: Subject): Partial<EntryFields> {
    if ('fd' in subject) return { fd: subject.fd };
    if ('path' in subject) return this.paths(subject.path);
    const named = this.paths(subject.link);
    return { ...named, flags: abi.ENTRY_HAS_PATH | abi.ENTRY_NO_FOLLOW };
  }

  nop(): Promise<number> {
    return this.result({ opcode: abi.OP_NOP });
  }

  open(path: Path, flags: number, mode = 0o666): Promise<number> {
    return this.openFully(path, flags, mode).then(({ result }) => result);
  }

  openFully(path: Path, flags: number, mode = 0o666): Promise<Completion> {
    const named = this.paths(path);
    return this.driver.run({ opcode: abi.OP_OPEN, ...named, argument0: flags, argument1: mode });
  }

  close(fd: number): Promise<number> {
    return this.result({ opcode: abi.OP_CLOSE, fd });
  }

  readFields(fd: number, region: Region, offset: number | bigint): EntryFields {
    return { opcode: abi.OP_READ, fd, offset, ...this.buffer(region) };
  }

  read(fd: number, region: Region, offset: number | bigint = 0): Promise<number> {
    return this.result(this.readFields(fd, region, offset));
  }

  write(fd: number, data: string | Uint8Array, offset: number | bigint = 0): Promise<number> {
    const bytes = Buffer.from(data);
    const region = this.driver.region(bytes.length);
    region.bytes.set(bytes);
    return this.result({ opcode: abi.OP_WRITE, fd, offset, ...this.buffer(region) });
  }

  sync(fd: number, isDataOnly = false): Promise<number> {
    return this.result({ opcode: abi.OP_SYNC, fd, argument0: isDataOnly ? 1 : 0 });
  }

  truncate(fd: number, length: number | bigint): Promise<number> {
    return this.result({ opcode: abi.OP_TRUNCATE, fd, value0: length });
  }

  rename(path: Path, path2: Path): Promise<number> {
    return this.result({ opcode: abi.OP_RENAME, ...this.paths(path, path2) });
  }

  unlink(path: Path): Promise<number> {
    return this.result({ opcode: abi.OP_UNLINK, ...this.paths(path) });
  }

  rmdir(path: Path): Promise<number> {
    return this.result({ opcode: abi.OP_UNLINK, ...this.paths(path), argument0: 1 });
  }

  mkdir(path: Path, mode = 0o777): Promise<number> {
    return this.result({ opcode: abi.OP_MKDIR, ...this.paths(path), argument1: mode });
  }

  link(path: Path, path2: Path): Promise<number> {
    return this.result({ opcode: abi.OP_LINK, ...this.paths(path, path2) });
  }

  symlink(target: Path, path2: Path): Promise<number> {
    return this.result({ opcode: abi.OP_SYMLINK, ...this.paths(target, path2) });
  }

  access(path: Path, mode: number): Promise<number> {
    return this.result({ opcode: abi.OP_ACCESS, ...this.paths(path), argument0: mode });
  }

  readlink(path: Path, region: Region): Promise<number> {
    return this.#pathInto(abi.OP_READLINK, path, region);
  }

  realpath(path: Path, region: Region): Promise<number> {
    return this.#pathInto(abi.OP_REALPATH, path, region);
  }

  #pathInto(opcode: number, path: Path, region: Region): Promise<number> {
    const named = this.paths(path);
    const flags = abi.ENTRY_HAS_PATH | abi.ENTRY_HAS_BUFFER;
    return this.result({ opcode, ...named, ...this.buffer(region), flags });
  }

  /** The result and a view of the record (valid only if the result is 0). */
  async stat(subject: Subject): Promise<{ result: number; record: DataView }> {
    const { slot, result } = await this.driver.run({
      opcode: abi.OP_STAT,
      ...this.subject(subject),
    });
    const { memory } = this.driver.backend;
    const at = memory.scratchOffset + memory.scratchOffsetOf(slot);
    const copy = memory.bytes.slice(at, at + abi.STAT_BYTES);
    return { result, record: new DataView(copy.buffer) };
  }

  utimes(subject: Subject, accessedSeconds: number, modifiedSeconds: number): Promise<number> {
    return this.result({
      opcode: abi.OP_UTIMES,
      ...this.subject(subject),
      value0: bitsOfDouble(accessedSeconds),
      offset: bitsOfDouble(modifiedSeconds),
    });
  }

  chmod(subject: Subject, mode: number): Promise<number> {
    return this.result({ opcode: abi.OP_CHMOD, ...this.subject(subject), argument1: mode });
  }

  chown(subject: Subject, uid: number, gid: number): Promise<number> {
    const owner = { argument0: uid, argument1: gid };
    return this.result({ opcode: abi.OP_CHOWN, ...this.subject(subject), ...owner });
  }

  /** One READDIR. */
  readdir(fd: number, region: Region): Promise<number> {
    return this.result({ opcode: abi.OP_READDIR, fd, ...this.buffer(region) });
  }

  cancel(slot: number, generation: number): Promise<number> {
    const value0 = BigInt(slot) | (BigInt(generation) << 32n);
    return this.result({ opcode: abi.OP_CANCEL, value0 });
  }
}

/** The records of a READDIR result, without "." and "..". */
export function decodeRecords(bytes: Uint8Array): DirectoryRecord[] {
  const records: DirectoryRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    const recordBytes = view.getUint16(abi.DIRENT_RECORD_BYTES_OFFSET, true);
    const nameAt = at + abi.DIRENT_NAME_OFFSET;
    const name = Buffer.from(bytes.subarray(nameAt, bytes.indexOf(0, nameAt)));
    const text = name.toString('latin1');
    const kind = view.getUint8(abi.DIRENT_KIND_OFFSET);
    if (text !== '.' && text !== '..') records.push({ name, kind });
    at += recordBytes;
  }
  return records;
}

function bitsOfDouble(value: number): bigint {
  return new BigInt64Array(new Float64Array([value]).buffer)[0];
}
