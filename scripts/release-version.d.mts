export function setVersion(root: string, version: string, date: string): void;
