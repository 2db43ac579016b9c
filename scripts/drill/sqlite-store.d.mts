import type { Store } from './drill.mjs';

export function openSqliteStore(folder: string): Promise<Store>;
