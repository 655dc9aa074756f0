import { createHmac } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { AppError } from '../../common/app-error';
import { validate } from '../../common/validate';
import { ContactProfile } from '../../contacts/contact-profile';
import { isSameSecret } from '../adapters/constant-time';
import { IdentityClaims, LoggedInVisitor } from './widget.dto';

const ALGORITHM = 'HS256';
/** Maximum difference between the clocks of the workspace's server and of this process. */
const LEEWAY_SECONDS = 10;

export interface VisitorIdentity {
  /** Id of the visitor in the workspace's system, signed by the workspace's server. */
  id: string;
  signed: ContactProfile;
  /** Profile that the page sends without a signature. */
  claimed: ContactProfile;
}

/**
 * Verifies a logged-in visitor by a signature of the id or by a JWT.
 * @throws AppError UNAUTHENTICATED: not signed with this secret, or expired; INVALID_BODY
 */
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
  // Generated API clients send null for a field without a value.
  if ((id ?? signature ?? null) !== null) throw AppError.invalidBody('visitor.jwt', 'jwt_not_alone');
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
