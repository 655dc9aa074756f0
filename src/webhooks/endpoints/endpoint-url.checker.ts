import { Injectable } from '@nestjs/common';
import { isIP } from 'node:net';
import { AppError } from '../../common/app-error';
import { AddressPolicy, AddressRefused, EndpointUrlRefused } from '../sending/address-policy';
import { DnsFailure, HostResolver } from '../sending/host-resolver';

/** Checks an endpoint's URL when it is registered. Every delivery checks it again: names move. */
@Injectable()
export class EndpointUrlChecker {
  constructor(
    private readonly policy: AddressPolicy,
    private readonly resolver: HostResolver,
  ) {}

  /**
   * @returns the URL, normalised
   * @throws AppError INVALID_BODY: not https, not public, or not resolved
   */
  async check(input: string): Promise<string> {
    try {
      const { hostname, href } = this.policy.parseEndpointUrl(input);
      const isLiteral = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
      if (!isLiteral) this.policy.vet(hostname, await this.resolver.resolve(hostname));
      return href;
    } catch (error) {
      const isRefusal =
        error instanceof EndpointUrlRefused || error instanceof AddressRefused || error instanceof DnsFailure;
      throw isRefusal ? AppError.invalidBody('url', `is refused: ${error.message}`) : error;
    }
  }
}
