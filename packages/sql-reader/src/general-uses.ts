/** What a statement in the tree of the general parser uses: functions, types, locks, and parts that are not understood. */
import { identifiers, variant } from './general-nodes.js';
import type { Dialect, Use } from './model.js';
import { packageUses } from './oracle-uses.js';
import { UsesBuilder } from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';
import { wordSet } from './word-set.js';

/** Statements whose parts must be understood; the others are told by their operations. */
const READ_STATEMENTS = new Set(['Query', 'Insert', 'Update', 'Delete', 'Merge']);
/** Variants that only compute, or whose names are looked at here. Those with their own syntax cannot be redefined. */
const UNDERSTOOD = wordSet(
  'Query Select SetOperation Values Table Insert Update Delete Merge Identifier CompoundIdentifier Wildcard ' +
    'QualifiedWildcard UnnamedExpr ExprWithAlias ExprWithAliases ObjectName Value Number SingleQuotedString ' +
    'DoubleQuotedString NationalStringLiteral HexStringLiteral SingleQuotedByteStringLiteral Boolean Placeholder Null ' +
    'Nested BinaryOp UnaryOp IsNull IsNotNull IsTrue IsNotTrue IsFalse IsNotFalse IsUnknown IsNotUnknown ' +
    'IsDistinctFrom IsNotDistinctFrom InList InSubquery Between Like RLike AnyOp AllOp Exists Subquery Case Cast ' +
    'Convert Extract Ceil Floor Position Substring Trim Overlay Collate AtTimeZone Interval TypedString Tuple ' +
    'GroupingSets Cube Rollup MatchAgainst Prefixed OuterJoin Prior ConnectBy StartWith Function List Unnamed Named ' +
    'ExprNamed Expr Expressions All Distinct OrderBy Limit LimitOffset OffsetCommaLimit Constant Inner Join Left Right ' +
    'LeftOuter RightOuter FullOuter CrossJoin CrossApply OuterApply LeftSemi RightSemi StraightJoin On Using Natural ' +
    'Derived NestedJoin TableFunction JsonTable OpenJsonTable XmlTable Pivot Unpivot MatchRecognize WindowSpec ' +
    'NamedWindow Preceding Following WithFill Separator Having OnOverflow Fixed Dynamic Except Exclude Rename Replace ' +
    'Json Xml DateTimeField Custom TableObject TableName WithFromKeyword WithoutKeyword BeforeSet AfterSet ColumnName ' +
    'ParenthesizedColumns DoUpdate DoNothing DuplicateKeyUpdate OnConflict Columns Output Returning ' +
    'PerPartition AliasedExpr Boolean Column ForOrdinality NestedPath Default Error For Cascades Single Multiple ' +
    'ForSystemTimeAsOf VersionAsOf TimestampAsOf Colon JsonAccess Bracket Field CharacterLength IntegerLength Precision PrecisionAndScale',
);
/** Operators that all databases of the dialects compute themselves. */
const OPERATORS = wordSet(
  'Plus Minus Multiply Divide Modulo StringConcat Gt Lt GtEq LtEq Spaceship Eq NotEq And Or Xor BitwiseOr BitwiseAnd ' +
    'BitwiseXor MyIntegerDivide PGBitwiseShiftLeft PGBitwiseShiftRight Arrow LongArrow PGBitwiseNot BitwiseNot Not ' +
    'BangNot',
);
/** Hints of SQL Server that keep nothing locked, or fewer rows than without them. */
const HARMLESS_HINT =
  /^(?:NOLOCK|READUNCOMMITTED|READCOMMITTED|READPAST|NOEXPAND|FORCESEEK|FORCESCAN|INDEX|SNAPSHOT|KEEPIDENTITY)$/i;
/** `:a`, `@a` and the like are no variants. */
const VARIANT = /^[A-Z]/;

/** The uses of one statement, wherever in it. */
export function generalUses(tree: unknown, dialect: Dialect): readonly Use[] {
  const uses = new UsesBuilder();
  new UsesWalk(uses, dialect).node(tree, false);
  if (dialect === 'oracle') packageUses(tree, uses);
  return uses.build();
}

class UsesWalk {
  constructor(
    private readonly uses: UsesBuilder,
    private readonly dialect: Dialect,
  ) {}

  /** `whole` where each kind of part must be understood. */
  node(value: unknown, whole: boolean): void {
    if (Array.isArray(value)) {
      for (const item of value) this.node(item, whole);
      return;
    }
    if (!isNode(value)) return;
    for (const key in value) {
      const child = value[key];
      if (child === null || child === undefined) continue;
      if (VARIANT.test(key)) {
        const inside = whole || READ_STATEMENTS.has(key);
        if (inside && !UNDERSTOOD.has(key)) this.uses.add('unread', key);
        this.#kind(key, child);
        this.node(child, inside);
      } else if (key === 'data_type') this.#type(child);
      else {
        this.#member(key, child);
        this.node(child, whole);
      }
    }
  }

  #kind(key: string, child: unknown): void {
    const node: Node = isNode(child) ? child : {};
    if (key === 'Function') this.uses.add('function', this.#names(node.name));
    else if (key === 'Table') this.#table(node);
    else if (key === 'BinaryOp' || key === 'UnaryOp') this.#operator(node.op);
    else if (key === 'AnyOp' || key === 'AllOp') this.#operator(node.compare_op);
    else if (key === 'RLike' && this.dialect === 'sqlite') this.uses.add('function', 'regexp');
    else if (key === 'ExprWithAlias' && this.dialect === 'tsql' && isNode(node.alias)) {
      // SELECT @a = 1 of SQL Server
      const alias = String(node.alias.value);
      if (alias.startsWith('@')) this.uses.add('assignment', alias);
    }
  }

  #member(key: string, child: unknown): void {
    if (key === 'locks' && listOf(child).length > 0) this.uses.add('lock', 'FOR UPDATE or FOR SHARE');
    if (key === 'into' && isNode(child)) this.uses.add('assignment', 'INTO');
    if (key !== 'with_hints') return;
    for (const hint of listOf(child)) {
      const [kind, content] = variant(hint);
      const names = kind === 'Function' && isNode(content) ? this.#names(content.name) : this.#names([hint]);
      const name = names.at(-1) ?? kind;
      if (!HARMLESS_HINT.test(name)) this.uses.add('lock', name.toUpperCase());
    }
  }

  /** A function in FROM, also one that SQLite reads without brackets. */
  #table(table: Node): void {
    if (table.name === undefined) return;
    const names = this.#names(table.name);
    // A table variable of SQL Server has such a name; elsewhere only a driver could put one there.
    if (this.dialect !== 'tsql' && /^[@$:?]/.test(names.at(-1) ?? '')) {
      this.uses.add('unread', 'a placeholder for a table');
    }
    const isFunction = table.args !== undefined && table.args !== null;
    if (isFunction || (this.dialect === 'sqlite' && /^pragma_/i.test(names.at(-1) ?? ''))) {
      this.uses.add('function', names);
    }
  }

  #operator(op: unknown): void {
    const [name] = variant(op);
    if (name === 'Assignment') this.uses.add('assignment', ':=');
    // SQLite calls functions of the same names, which programs define.
    else if (name === 'Regexp' || name === 'Match') {
      if (this.dialect === 'sqlite') this.uses.add('function', name.toLowerCase());
    } else if (!OPERATORS.has(name)) this.uses.add('operator', name);
  }

  /** Only types of users have names that the parser does not know. */
  #type(type: unknown): void {
    const [kind, content] = variant(type);
    if (kind === 'Custom' && Array.isArray(content)) this.uses.add('type', this.#names(content[0]));
    else if (Array.isArray(content)) for (const item of listOf(content)) this.#type(item);
    else if (isNode(content) && 'Custom' in content) this.#type(content);
  }

  #names(value: unknown): string[] {
    return identifiers(value).map(({ value: name, quote_style: quote }) => {
      const text = String(name ?? '');
      // Only Oracle heeds the case of names in quotes.
      const isExact = this.dialect === 'oracle' && typeof quote === 'string' && text !== text.toUpperCase();
      return isExact ? `"${text}"` : text.toLowerCase();
    });
  }
}
