// The files under load: where they are, which block is target number n, laying them out.
// Flow: options -> [data set] -> lanes, final check
// Owner: the run; the folder is a fresh temporary one, removed by stress/temp_folder.ts.
// Invariants: file numbers count block files first, then small files; every block starts at
// generation 1; layout is durable before the load starts, so that write-back does not disturb it.
// Not here: what the load does (lanes.ts), the check at the end (final_check.ts).
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf, errorTextOf, troubleError } from '../cli_error.ts';
import type { BlockIdentity, BlockPattern } from '../workload/pattern.ts';
import type { StopControl } from './stop_control.ts';
import type { FileSubject, SubjectFile } from './subject.ts';

const LAYOUT_CHUNK_BYTES = 1024 ** 2;
const LAYOUT_LANES = 8;
const SMALL_FILES_PER_FOLDER = 1000;

/** Size and shape of a data set. */
export interface DataSetShape {
  readonly blockBytes: number;
  readonly blockFileCount: number;
  readonly blocksPerFile: number;
  readonly smallFileCount: number;
  readonly isDirect: boolean;
}

/** Names and addresses of all targets. */
export class DataSet {
  readonly shape: DataSetShape;
  readonly blockPaths: readonly string[];
  readonly smallPaths: readonly string[];
  readonly blockCount: number;

  constructor(folder: string, shape: DataSetShape) {
    this.shape = shape;
    this.blockCount = shape.blockFileCount * shape.blocksPerFile;
    this.blockPaths = Array.from({ length: shape.blockFileCount }, (_, file) =>
      join(folder, `data-${String(file).padStart(4, '0')}`),
    );
    this.smallPaths = Array.from({ length: shape.smallFileCount }, (_, file) =>
      join(smallFolder(folder, file), `file-${String(file).padStart(6, '0')}`),
    );
  }

  get targetCount(): number {
    return this.blockCount + this.shape.smallFileCount;
  }

  get bytes(): number {
    return this.targetCount * this.shape.blockBytes;
  }

  /** Index into the open block files, or the small file's number behind them. */
  fileOf(target: number): number {
    return target < this.blockCount
      ? Math.floor(target / this.shape.blocksPerFile)
      : this.shape.blockFileCount + target - this.blockCount;
  }

  offsetOf(target: number): number {
    return target < this.blockCount
      ? (target % this.shape.blocksPerFile) * this.shape.blockBytes
      : 0;
  }

  pathOf(target: number): string {
    const path =
      target < this.blockCount
        ? this.blockPaths[this.fileOf(target)]
        : this.smallPaths[target - this.blockCount];
    return path ?? '';
  }

  identityOf(target: number, generation: number): BlockIdentity {
    return { file: this.fileOf(target), offsetBytes: this.offsetOf(target), generation };
  }
}

/** Opens every block file for a subject. Throws with a remedy when descriptors run out. */
export async function openBlockFiles(
  subject: FileSubject,
  dataSet: DataSet,
): Promise<SubjectFile[]> {
  const flags = constants.O_RDWR | (dataSet.shape.isDirect ? constants.O_DIRECT : 0);
  const files: SubjectFile[] = [];
  try {
    for (const path of dataSet.blockPaths) files.push(await subject.open(path, flags));
    return files;
  } catch (error) {
    await closeBlockFiles(files);
    throw setupError(`opening file ${files.length + 1} of ${dataSet.blockPaths.length}`, error);
  }
}

export async function closeBlockFiles(files: readonly SubjectFile[]): Promise<void> {
  for (const file of files) await file.close();
}

/** Writes generation 1 of everything. `onProgress` gets the bytes written so far. */
export async function layOut(
  subject: FileSubject,
  dataSet: DataSet,
  pattern: BlockPattern,
  stop: StopControl,
  onProgress: (bytes: number) => void,
): Promise<void> {
  let bytes = 0;
  const onWritten = (count: number): void => {
    bytes += count;
    onProgress(bytes);
  };
  try {
    await layOutBlockFiles(subject, dataSet, pattern, stop, onWritten);
    await layOutSmallFiles(subject, dataSet, pattern, stop, onWritten);
  } catch (error) {
    throw setupError(`laying out the data set (${bytes} of ${dataSet.bytes} bytes)`, error);
  }
}

async function layOutBlockFiles(
  subject: FileSubject,
  dataSet: DataSet,
  pattern: BlockPattern,
  stop: StopControl,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const { blockBytes, blocksPerFile, isDirect } = dataSet.shape;
  const chunkBlocks = Math.max(1, Math.floor(LAYOUT_CHUNK_BYTES / blockBytes));
  const flags =
    constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | (isDirect ? constants.O_DIRECT : 0);
  let nextFile = 0;
  await inLanes(async () => {
    const buffer = subject.allocate(chunkBlocks * blockBytes);
    while (nextFile < dataSet.blockPaths.length && !stop.isStopped) {
      const file = nextFile++;
      const handle = await subject.open(dataSet.blockPaths[file] ?? '', flags);
      try {
        for (let block = 0; block < blocksPerFile && !stop.isStopped; block += chunkBlocks) {
          const count = Math.min(chunkBlocks, blocksPerFile - block);
          for (let index = 0; index < count; index++) {
            const offsetBytes = (block + index) * blockBytes;
            pattern.fill(buffer, index * blockBytes, { file, offsetBytes, generation: 1 });
          }
          await writeFully(handle, buffer, count * blockBytes, block * blockBytes);
          onWritten(count * blockBytes);
        }
        await handle.datasync();
      } finally {
        await handle.close();
      }
    }
  });
}

async function layOutSmallFiles(
  subject: FileSubject,
  dataSet: DataSet,
  pattern: BlockPattern,
  stop: StopControl,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const { blockBytes, blockFileCount } = dataSet.shape;
  let next = 0;
  for (let file = 0; file < dataSet.smallPaths.length; file += SMALL_FILES_PER_FOLDER) {
    await mkdir(join(dataSet.smallPaths[file] ?? '', '..'));
  }
  await inLanes(async () => {
    const buffer = subject.allocate(blockBytes);
    while (next < dataSet.smallPaths.length && !stop.isStopped) {
      const index = next++;
      pattern.fill(buffer, 0, { file: blockFileCount + index, offsetBytes: 0, generation: 1 });
      await subject.writeFile(dataSet.smallPaths[index] ?? '', buffer, { flag: 'wx' });
      onWritten(blockBytes);
    }
  });
}

/** Writes all bytes, continuing after short writes. */
export async function writeFully(
  file: SubjectFile,
  buffer: Uint8Array,
  bytes: number,
  position: number,
): Promise<void> {
  let done = 0;
  while (done < bytes) {
    const { bytesWritten } = await file.write(buffer, done, bytes - done, position + done);
    if (bytesWritten === 0) throw troubleError('ERR_CLI_SETUP', 'a write made no progress');
    done += bytesWritten;
  }
}

async function inLanes(body: () => Promise<void>): Promise<void> {
  const lanes = Array.from({ length: LAYOUT_LANES }, body);
  const outcomes = await Promise.allSettled(lanes);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function smallFolder(folder: string, file: number): string {
  return join(
    folder,
    `small-${String(Math.floor(file / SMALL_FILES_PER_FOLDER)).padStart(4, '0')}`,
  );
}

function setupError(what: string, error: unknown): Error {
  const remedies: Readonly<Record<string, string>> = {
    EMFILE: 'too many open files: raise `ulimit -n` or give fewer --files',
    ENFILE: 'the whole system has no file left to open: raise fs.file-max',
    ENOSPC: 'the disk is full: give a smaller --size or another --dir',
    EDQUOT: 'the disk quota is used up: give a smaller --size or another --dir',
    EROFS: 'the file system is read-only: give another --dir',
    EINVAL: 'the file system or the memory does not fit --direct: try without',
  };
  const remedy = remedies[errorCodeOf(error)];
  const hint = remedy === undefined ? '' : ` (${remedy})`;
  return troubleError('ERR_CLI_SETUP', `${what}: ${errorTextOf(error)}${hint}`, error);
}
