/** Content found at the location of a database. */
export type DatabaseContent =
  /** Nothing, or a database without the structure of the service. */
  | 'nothing'
  /** A database of the service. The id is empty in one created by an older version and not migrated since. */
  | { readonly instanceId: string };

export const READ_ID = 'SELECT "instance_id" FROM "service_state" WHERE "id" = 1';

export function contentOf([row]: readonly (readonly unknown[])[]): DatabaseContent {
  return row === undefined ? 'nothing' : { instanceId: String(row[0]) };
}
