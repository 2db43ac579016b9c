/** A target in a few words, for example `project checkout`. */
export function targetText(target: { readonly targetType: string; readonly targetId: string }): string {
  return `${target.targetType} ${target.targetId}`;
}
