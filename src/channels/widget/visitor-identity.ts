import { createHmac } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { AppError } from '../../common/app-error';
import { validate } from '../../common/validate';
import { ContactProfile } from '../../contacts/contacts.repository';
import { isSameSecret } from '../adapters/support/constant-time';
import { IdentityClaims, LoggedInVisitor } from './widget.dto';

const ALGORITHM = 'HS256';
/** Between the clocks of the workspace's server and of this one. */
const LEEWAY_SECONDS = 10;

/** Who a visitor is, as the workspace's server has signed it. */
export interface VisitorIdentity {
  /** The workspace's own id of them. */
  id: string;
  /** What is signed of them beside it. */
  signed: ContactProfile;
  /** What their page says. */
  claimed: ContactProfile;
}

/** @throws AppError UNAUTHENTICATED: not signed with this secret, or expired; INVALID_BODY */
export async function verifyIdentity(visitor: LoggedInVisitor, secret: string): Promise<VisitorIdentity> {
  const { id, signature, jwt, name, email } = visitor;
  const claimed = { name, email };
  if (typeof jwt !== 'string') {
    const expected = createHmac('sha256', secret).update(id!).digest('hex');
    if (!isSameSecret(signature!, expected)) {
      throw new AppError('UNAUTHENTICATED', "The visitor's signature is not that of this widget's secret.");
    }
    return { id: id!, signed: {}, claimed };
  }
  if (id !== undefined || signature !== undefined)
    throw AppError.invalidBody('visitor.jwt', 'stands instead of id and signature');
  const { sub, ...signed } = await verifyClaims(jwt, secret);
  return { id: sub, signed, claimed };
}

async function verifyClaims(jwt: string, secret: string): Promise<IdentityClaims> {
  try {
    const { payload } = await jwtVerify(jwt, Buffer.from(secret), {
      algorithms: [ALGORITHM],
      requiredClaims: ['sub', 'exp'],
      clockTolerance: LEEWAY_SECONDS,
    });
    const { sub, name, email } = payload;
    return validate(IdentityClaims, { sub, name, email });
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw new AppError(
      'UNAUTHENTICATED',
      "The visitor's JWT is expired, or not signed with this widget's secret.",
    );
  }
}
