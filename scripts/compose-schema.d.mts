/** The databases the service runs on, by Prisma's names. */
export type Provider = 'sqlite' | 'postgresql';
export const PACKAGE_ROOT: string;
export const PROVIDERS: readonly Provider[];
export function schemaFiles(provider: Provider): { name: string; content: string }[];
export function migrationsFolder(provider: Provider): string;
export function composeSchema(provider: Provider): string;
