import { DeliveryError, DeliveryErrorCode, DELIVERY_ERROR_CODES } from '../../messages/message-status';
import { ProviderFault } from '../adapters/channel-adapter';

const MAX_LENGTH = 1_000;

/** The code is ours, and what the provider said stands beside it. */
export function deliveryError(code: DeliveryErrorCode, fault?: ProviderFault | null): DeliveryError {
  return {
    code,
    providerCode: fault?.providerCode == null ? null : storable(fault.providerCode),
    message: fault ? storable(fault.message) : DELIVERY_ERROR_CODES[code],
  };
}

/** A text that PostgreSQL would not take must not keep an outcome from being recorded. */
function storable(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed().replaceAll('\0', '\uFFFD');
}
