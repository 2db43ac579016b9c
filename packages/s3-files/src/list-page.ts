import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** A page of a list of objects, the reply of `ListObjectsV2` with keys encoded as in addresses. */
export interface ListPage {
  readonly keys: readonly string[];
  /** Null for the last page. */
  readonly nextToken: string | null;
}

/** Throws when the text is no such reply. */
export function readListPage(xml: string): ListPage {
  const { root } = parseXml(xml);
  if (root?.name !== 'ListBucketResult')
    throw new Error('the store answered with something else than a list');
  const keys = childrenOf(root, 'Contents').flatMap((object) => childrenOf(object, 'Key'));
  const [isTruncated] = childrenOf(root, 'IsTruncated');
  const [token] = childrenOf(root, 'NextContinuationToken');
  return {
    keys: keys.map(({ text }) => decodeURIComponent(text.replaceAll('+', ' '))),
    nextToken: isTruncated?.text === 'true' ? (token?.text ?? null) : null,
  };
}

function childrenOf({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name);
}
