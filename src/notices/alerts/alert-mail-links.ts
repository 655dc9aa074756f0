import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Config } from '../../config/config';
import { AgentKey } from '../../database/tables/table-declaration';
import { LinkSignatures } from '../link-signatures';

/** Addresses that a mail about alerts names. */
export interface MailLinks {
  /** Pages of the workspace in the dashboard. */
  workspace: string;
  /** Page on which a person chooses the mails. */
  account: string;
  /** Address that ends the mails without a login. */
  end: string;
}

/** Makes the links in mails about alerts, and checks the tokens that end the mails to a person. */
@Injectable()
export class AlertMailLinks {
  private readonly signatures: LinkSignatures;

  constructor(private readonly config: Config) {
    this.signatures = new LinkSignatures(config.secretsKeys, 'ends of mails about alerts');
  }

  make({ tenantId, agentId }: AgentKey, slug: string): MailLinks {
    const { appUrl, publicUrl } = this.config;
    const token = `${tenantId}.${agentId}.${this.signatures.sign(tenantId, agentId)}`;
    return {
      workspace: `${appUrl}/w/${slug}`,
      account: `${appUrl}/account`,
      end: `${publicUrl}/alert-mails/${token}`,
    };
  }

  /** Returns the agent whose mails a token ends; null if the token is not genuine. */
  read(token: string): AgentKey | null {
    const [tenantId = '', agentId = '', signature = ''] = token.split('.');
    if (!isId(tenantId) || !isId(agentId)) return null;
    return this.signatures.matches(signature, tenantId, agentId) ? { tenantId, agentId } : null;
  }
}
