import { DeliveryError, DeliveryErrorCode, DELIVERY_ERROR_CODES } from '../../common/message-status';
import { ProviderFault } from '../adapters/hook-events';
import { storableText } from '../adapters/provider-values';

const MAX_LENGTH = 1_000;

/** Makes a message's stored error, with the provider's text if there is a fault. */
export function deliveryError(code: DeliveryErrorCode, fault?: ProviderFault | null): DeliveryError {
  return {
    code,
    providerCode: fault?.providerCode == null ? null : shorten(fault.providerCode),
    message: fault ? shorten(fault.message) : DELIVERY_ERROR_CODES[code],
  };
}

/** Makes a text storable. If PostgreSQL refused it, the attempt's outcome would be lost. */
function shorten(text: string): string {
  return storableText(text.slice(0, MAX_LENGTH));
}
