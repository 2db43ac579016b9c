import { readdir, readFile, readlink } from 'node:fs/promises';
import type { ServiceProcess } from '../../../support/service-process.js';

/** Process ids of the workers that run, by the file system of the kernel. */
export async function workersOf(service: ServiceProcess): Promise<number[]> {
  const { pid } = service.process;
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Kills a process, or asks it to end; it may have ended since it was seen. */
export function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has.
  }
}

/**
 * Which worker holds a connection of this process to the service, given the port of this end; undefined when none does.
 * Something must have been answered over the connection: before that it may still be on its way to a worker.
 */
export async function workerOf(
  service: ServiceProcess,
  localPort: number | undefined,
): Promise<number | undefined> {
  const socket = `socket:[${await inodeOfPeer(localPort ?? 0)}]`;
  for (const pid of await workersOf(service)) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (target === socket) return pid;
    }
  }
  return undefined;
}

/** The kernel's number of the other end of an IPv4 connection. Columns: proc_net_tcp(5). */
async function inodeOfPeer(localPort: number): Promise<string | undefined> {
  const remote = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1)) {
    const [, , peer, , , , , , , inode] = line.trim().split(/\s+/);
    if (peer?.endsWith(remote) === true && inode !== '0') return inode;
  }
  return undefined;
}
