/** Address of the comparison of two versions of a control. */
export function comparisonAddress(controlId: number, from: number, to: number): string {
  return `/controls/${controlId}?tab=versions&from=${from}&to=${to}`;
}
