import { isRepeated, luhn, numberIn } from './checksums.js';
import type { ShapedKind } from './kind.js';

/** First digits of cards: lowest, highest, shortest and longest number of digits. */
type IssuerRange = readonly [low: string, high: string, shortest: number, longest: number];

/** The ranges of the large networks (ISO/IEC 7812-1 assigns them; each network publishes its own). */
const ISSUERS: readonly IssuerRange[] = [
  ['4', '4', 13, 19], // Visa
  ['51', '55', 16, 16], // Mastercard
  ['2221', '2720', 16, 16], // Mastercard
  ['34', '34', 15, 15], // American Express
  ['37', '37', 15, 15],
  ['6011', '6011', 16, 19], // Discover
  ['644', '649', 16, 19],
  ['65', '65', 16, 19],
  ['300', '305', 14, 19], // Diners Club
  ['3095', '3095', 14, 19],
  ['36', '36', 14, 19],
  ['38', '39', 14, 19],
  ['3528', '3589', 16, 19], // JCB
  ['62', '62', 16, 19], // UnionPay
  ['81', '81', 16, 19], // UnionPay, RuPay
  ['60', '60', 16, 16], // RuPay
  ['82', '82', 16, 16],
  ['5018', '5018', 13, 19], // Maestro
  ['5020', '5020', 13, 19],
  ['5038', '5038', 13, 19],
  ['5893', '5893', 13, 19],
  ['6304', '6304', 13, 19],
  ['6759', '6759', 13, 19],
  ['6761', '6763', 13, 19],
  ['2200', '2204', 16, 19], // Mir
  ['9792', '9792', 16, 16], // Troy
];

/** Whether a number has the check digit of a card, and the first digits and length of a network. */
export function isCard(code: string): boolean {
  if (!luhn(code) || isRepeated(code)) return false;
  return ISSUERS.some(([low, high, shortest, longest]) => {
    const first = numberIn(code, 0, low.length);
    return first >= Number(low) && first <= Number(high) && code.length >= shortest && code.length <= longest;
  });
}

export const creditCard: ShapedKind = {
  name: 'credit_card',
  title: 'Number of a payment card: check digit, first digits and length of a network',
  source: 'ISO/IEC 7812-1',
  shapes: {
    13: 0.2,
    14: 0.4,
    15: 0.6,
    16: 0.7,
    17: 0.2,
    18: 0.2,
    19: 0.4,
    '4 4 4 4': 0.95,
    '4-4-4-4': 0.95,
    '4.4.4.4': 0.9,
    '4 6 5': 0.9,
    '4-6-5': 0.9,
    '4 6 4': 0.9,
    '4-6-4': 0.9,
    '4 4 4 4 3': 0.9,
    '4-4-4-4-3': 0.9,
  },
  check: isCard,
  context: [
    'card',
    'cards',
    'credit',
    'debit',
    'visa',
    'mastercard',
    'amex',
    'american express',
    'maestro',
    'discover',
    'diners',
    'jcb',
    'unionpay',
    'pan',
    'cc',
    'ccn',
    'cvv',
    'cvc',
    'expiry',
    'kreditkarte',
    'kreditkartennummer',
    'karte',
    'kartennummer',
    'carte',
    'carte bancaire',
    'tarjeta',
    'carta',
    'cartao',
    'cartão',
    'creditcard',
    'kort',
    'карта',
    'карты',
    'карту',
    'カード',
    '信用卡',
    '卡号',
  ],
};
