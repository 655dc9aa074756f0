/** Case of client/vectors/signatures.json. */
export interface SignatureVector {
  name: string;
  secrets: string[];
  now: string;
  toleranceSeconds?: number;
  headers: Record<string, string>;
  body: string;
  expect: { genuine: boolean; fault?: string };
}
