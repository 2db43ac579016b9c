/** Largest id of a row: ids have 32 bits in storage. */
const MAX_ROW_ID = 2 ** 31 - 1;

/** Whether a number can be the id of a row. A statement with another one fails on PostgreSQL. */
export function isRowId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ROW_ID;
}
