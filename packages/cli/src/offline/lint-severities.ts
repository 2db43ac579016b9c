/** From the least to the worst. */
export const SEVERITY_NAMES = ['note', 'warning', 'error'] as const;
