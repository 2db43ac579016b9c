/** A SQLite file: copied by the command `backup`, destroyed with its whole folder. */
import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** @returns {Promise<import('./drill.mjs').Store>} */
export async function openSqliteStore(folder) {
  const live = path.join(folder, 'live');
  const copy = path.join(folder, 'backup.db');
  const file = path.join(live, 'service.db');
  await mkdir(live);
  return {
    name: 'sqlite, by the command backup',
    url: `file:${file}`,
    async backUp(release) {
      await release.command('backup', copy);
      return (await stat(copy)).size;
    },
    destroy: () => rm(live, { recursive: true }),
    async restore() {
      await mkdir(live);
      await copyFile(copy, file);
    },
    close: async () => {},
  };
}
