// Generated from the service's OpenAPI document: npm run generate:client.
export interface paths {
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listContacts"];
        put?: never;
        post: operations["createContact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/contacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getContact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateContact"];
        trace?: never;
    };
    "/api/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConversations"];
        put?: never;
        post: operations["createConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateConversation"];
        trace?: never;
    };
    "/api/v1/attachments/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["retryAttachment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUpload"];
        put?: never;
        post?: never;
        delete: operations["deleteUpload"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["putUploadContent"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["uploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attachments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attachments/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAttachmentContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMessages"];
        put?: never;
        post: operations["sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["searchMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookEndpoints"];
        put?: never;
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhook-endpoints/{id}/roll-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rollWebhookEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ApiKeyIdentity: {
            /** @example 019ab3f0-77aa-7f10-8d2f-1b6f3a4c5d6e */
            apiKeyId: string;
            /**
             * @example [
             *       "conversations:read",
             *       "messages:write"
             *     ]
             */
            scopes: components["schemas"]["Scope"][];
            tenant: components["schemas"]["Tenant"];
        };
        /** @enum {string} */
        Scope: "conversations:read" | "conversations:write" | "messages:read" | "messages:write" | "contacts:read" | "contacts:write" | "agents:read" | "conversations:create" | "webhooks:read" | "webhooks:write";
        Tenant: {
            /** @example 019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f */
            id: string;
            /** @example Acme Support */
            name: string;
            /** @example acme */
            slug: string;
            /**
             * @description TRIAL, STARTER, PRO or ENTERPRISE; more may come.
             * @example PRO
             */
            planTier: string;
        };
        Error: {
            error: {
                code: components["schemas"]["ErrorCode"];
                /** @description For people. Its wording may change. */
                message: string;
                /** @description Says more than the code. New reasons may appear. */
                reason?: string;
                values?: components["schemas"]["ErrorValues"];
                /** @description What is wrong with which field. */
                details?: components["schemas"]["ErrorDetail"][];
                /** @description The same as in the X-Request-Id header. */
                requestId: string;
            };
        };
        /** @enum {string} */
        ErrorCode: "INVALID_BODY" | "INVALID_QUERY" | "UNAUTHENTICATED" | "TRIAL_EXPIRED" | "FORBIDDEN" | "WORKSPACE_SUSPENDED" | "NOT_FOUND" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "RANGE_NOT_SATISFIABLE" | "RATE_LIMITED" | "INTERNAL" | "UNAVAILABLE";
        /** @description Values that the message holds, such as a limit. */
        ErrorValues: {
            [key: string]: unknown;
        };
        ErrorDetail: {
            field: string;
            message: string;
            /** @description Says what is wrong. New codes may appear. */
            code?: string;
            values?: components["schemas"]["ErrorValues"];
        };
        ContactPage: {
            data: components["schemas"]["Contact"][];
            /**
             * @description Send it as `cursor` to get the next page. null on the last page.
             * @example null
             */
            nextCursor: string | null;
        };
        Contact: {
            /** @example 019ab3f2-3b4c-7d5e-8f60-718293a4b5c6 */
            id: string;
            /** @example Zoë Martín */
            name: string | null;
            /** @example zoe@example.com */
            email: string | null;
            /** @example +34 600 11 22 33 */
            phone: string | null;
            /** @example null */
            avatarUrl: string | null;
            /** @description The person's id on each channel. */
            identities: components["schemas"]["ContactIdentity"][];
            /**
             * @description Which of `name` and `email` the workspace's own server has signed, for a visitor who is logged in. The others may be what the person says.
             * @example [
             *       "email"
             *     ]
             */
            verified: components["schemas"]["VerifiedField"][];
            /**
             * @description Other facts that the workspace keeps.
             * @example {
             *       "city": "Valencia"
             *     }
             */
            attributes: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @example 2026-11-02T08:15:30.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt: string;
        };
        ContactIdentity: {
            /** @example WHATSAPP */
            channel: components["schemas"]["Channel"];
            /**
             * @description The provider's id of the person.
             * @example 34600112233
             */
            externalId: string;
        };
        /** @enum {string} */
        Channel: "WIDGET" | "WHATSAPP" | "TELEGRAM" | "MESSENGER" | "INSTAGRAM";
        /**
         * @description Which of `name` and `email` the workspace's own server has signed, for a visitor who is logged in. The others may be what the person says.
         * @enum {string}
         */
        VerifiedField: "name" | "email";
        ContactInput: {
            /** @example Zoë Martín */
            name?: string;
            /**
             * Format: email
             * @example zoe@example.com
             */
            email?: string;
            /** @example +34 600 11 22 33 */
            phone?: string;
            /**
             * @description Other facts that the workspace keeps: up to 50, by names of at most 100 characters, and 16 KiB of JSON in all. None by default.
             * @example {
             *       "city": "Valencia"
             *     }
             */
            attributes?: {
                [key: string]: string | number | boolean;
            };
            /**
             * @description The id on a channel, by which the workspace can write before the contact has written. No other contact may have it.
             * @example {
             *       "channel": "WHATSAPP",
             *       "externalId": "34600112233"
             *     }
             */
            identity?: components["schemas"]["ContactIdentityInput"];
        };
        ContactIdentityInput: {
            /** @example WHATSAPP */
            channel: components["schemas"]["Channel"];
            /**
             * @description The provider's id of the person: a phone number with its country code, a business-scoped id, a chat id, a page-scoped id. The spacing and the prefix of a phone number do not matter: it is stored in digits.
             * @example 34600112233
             */
            externalId: string;
        };
        ContactChanges: {
            /**
             * Format: date-time
             * @description The `updatedAt` of the contact that you edit: if it was changed since, the edit is refused with 409. Without it the edit applies to the contact as it is by now. A body with it alone is refused.
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt?: string;
            /** @example Zoë Martín */
            name?: string | null;
            /**
             * Format: email
             * @example zoe@example.com
             */
            email?: string | null;
            /** @example +34 600 11 22 33 */
            phone?: string | null;
            /**
             * @description Other facts that the workspace keeps: up to 50, by names of at most 100 characters, and 16 KiB of JSON in all. They replace all earlier ones.
             * @example {
             *       "city": "Valencia"
             *     }
             */
            attributes?: {
                [key: string]: string | number | boolean;
            };
        };
        /** @enum {string} */
        ConversationStatus: "OPEN" | "SNOOZED" | "CLOSED";
        ConversationPage: {
            data: components["schemas"]["ConversationListItem"][];
            /**
             * @description Send it as `cursor` to get the next page. null on the last page.
             * @example null
             */
            nextCursor: string | null;
        };
        ConversationListItem: {
            /** @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11 */
            id: string;
            /** @example WHATSAPP */
            sourceChannel: components["schemas"]["Channel"];
            /** @example OPEN */
            status: components["schemas"]["ConversationStatus"];
            /**
             * Format: date-time
             * @description When it opens by itself; null when it is not snoozed, or snoozed without an end.
             * @example null
             */
            snoozedUntil: string | null;
            /** @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f */
            assignedAgentId: string | null;
            /**
             * @description The first 140 characters of the latest message, on one line; null before the first message.
             * @example Your parcel is on its way.
             */
            lastMessagePreview: string | null;
            /**
             * Format: date-time
             * @description null before the first message.
             * @example 2026-11-20T09:41:07.512Z
             */
            lastMessageAt: string | null;
            /**
             * Format: date-time
             * @description The time of the customer's first message that waits for a reply; null if none does.
             * @example null
             */
            waitingSince: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:38:55.000Z
             */
            createdAt: string;
            /**
             * @description Only with `sort=activity` or `needsReply=true`.
             * @example {
             *       "id": "019ab3f2-3b4c-7d5e-8f60-718293a4b5c6",
             *       "name": "Zoë Martín"
             *     }
             */
            contact?: components["schemas"]["ContactName"];
        };
        ContactName: {
            /** @example 019ab3f2-3b4c-7d5e-8f60-718293a4b5c6 */
            id: string;
            /** @example Zoë Martín */
            name: string | null;
        };
        ConversationInput: {
            /**
             * @description The id of a contact.
             * @example 019ab3f2-3b4c-7d5e-8f60-718293a4b5c6
             */
            contactId: string;
            /** @example WHATSAPP */
            channel: components["schemas"]["Channel"];
        };
        Conversation: {
            /** @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11 */
            id: string;
            /** @example WHATSAPP */
            sourceChannel: components["schemas"]["Channel"];
            /** @example OPEN */
            status: components["schemas"]["ConversationStatus"];
            /**
             * Format: date-time
             * @description When it opens by itself; null when it is not snoozed, or snoozed without an end.
             * @example null
             */
            snoozedUntil: string | null;
            /** @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f */
            assignedAgentId: string | null;
            /**
             * @description The first 140 characters of the latest message, on one line; null before the first message.
             * @example Your parcel is on its way.
             */
            lastMessagePreview: string | null;
            /**
             * Format: date-time
             * @description null before the first message.
             * @example 2026-11-20T09:41:07.512Z
             */
            lastMessageAt: string | null;
            /**
             * Format: date-time
             * @description The time of the customer's first message that waits for a reply; null if none does.
             * @example null
             */
            waitingSince: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:38:55.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:41:07.512Z
             */
            updatedAt: string;
        };
        ConversationDetail: {
            /** @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11 */
            id: string;
            /** @example WHATSAPP */
            sourceChannel: components["schemas"]["Channel"];
            /** @example OPEN */
            status: components["schemas"]["ConversationStatus"];
            /**
             * Format: date-time
             * @description When it opens by itself; null when it is not snoozed, or snoozed without an end.
             * @example null
             */
            snoozedUntil: string | null;
            /** @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f */
            assignedAgentId: string | null;
            /**
             * @description The first 140 characters of the latest message, on one line; null before the first message.
             * @example Your parcel is on its way.
             */
            lastMessagePreview: string | null;
            /**
             * Format: date-time
             * @description null before the first message.
             * @example 2026-11-20T09:41:07.512Z
             */
            lastMessageAt: string | null;
            /**
             * Format: date-time
             * @description The time of the customer's first message that waits for a reply; null if none does.
             * @example null
             */
            waitingSince: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:38:55.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:41:07.512Z
             */
            updatedAt: string;
            contact: components["schemas"]["Contact"];
        };
        ConversationChanges: {
            /**
             * @description Any status may follow any.
             * @example CLOSED
             */
            status?: components["schemas"]["ConversationStatus"];
            /**
             * @description An active agent of the workspace; null removes the assignment.
             * @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f
             */
            assignedAgentId?: string | null;
            /**
             * Format: date-time
             * @description When a snoozed conversation opens by itself, such as 2027-01-04T08:00:00Z: at most 366 days ahead. Only with status SNOOZED, or while it is snoozed. null removes the time.
             * @example null
             */
            snoozedUntil?: string | null;
        };
        Attachment: {
            /** @example 019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b */
            id: string;
            /**
             * @description By the bytes; while they are not stored, as the sender says. More may come.
             * @example IMAGE
             * @enum {string}
             */
            kind: "IMAGE" | "AUDIO" | "VIDEO" | "FILE";
            /**
             * @description PENDING: the bytes are on their way. READY: they are stored. FAILED: `problem` says why they will not come. LINK_ONLY: the provider forbids to store them. More may come.
             * @example READY
             * @enum {string}
             */
            state: "PENDING" | "READY" | "FAILED" | "LINK_ONLY";
            /**
             * @description Why it is FAILED: GONE, TOO_BIG, FORBIDDEN, REAUTH, FULL, EXHAUSTED, UNREADABLE; more may come. Else null.
             * @example null
             */
            problem: string | null;
            /** @example parcel.jpg */
            name: string | null;
            /** @example image/jpeg */
            contentType: string | null;
            /**
             * @description In bytes.
             * @example 48211
             */
            size: number | null;
            /**
             * @description SHA-256 of the bytes, in hex; null unless READY.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string | null;
            /**
             * @description Of a picture, in pixels.
             * @example 1600
             */
            width: number | null;
            /**
             * @description Of a picture, in pixels.
             * @example 1200
             */
            height: number | null;
            /**
             * @description Of audio or video, if the channel names it: Telegram does.
             * @example null
             */
            durationMs: number | null;
            /**
             * @description What its sender wrote to it.
             * @example null
             */
            caption: string | null;
            /**
             * @description Path of the bytes, for the same key; null unless READY.
             * @example /api/v1/attachments/019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b/content
             */
            url: string | null;
            /**
             * @description Path of a picture's thumbnail in WebP, or of a voice message in MP3; null if there is none, or it is not made yet.
             * @example /api/v1/attachments/019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b/content?variant=rendition
             */
            renditionUrl: string | null;
            /**
             * @description Progress of this file, which the channel's provider gets by a request of its own. null before the first request, in the widget, and for a customer's file: then the message's `delivery` says all.
             * @example null
             */
            delivery: components["schemas"]["MessageDelivery"] | null;
        };
        MessageDelivery: {
            /**
             * @description It only advances. UNKNOWN: the provider did not say whether it accepted the message, which is not sent again. More may come.
             * @example QUEUED
             * @enum {string|null}
             */
            status: "QUEUED" | "SENDING" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | null;
            /**
             * @description Why it is FAILED, UNKNOWN, or retried (SENDING).
             * @example null
             */
            error: components["schemas"]["MessageDeliveryError"] | null;
        };
        MessageDeliveryError: {
            /**
             * @description NO_CONNECTION, NO_RECIPIENT, REAUTH_REQUIRED, WINDOW_CLOSED, REFUSED, RETRYING, RETRIES_EXHAUSTED, GIVEN_UP, ERASED, OUTCOME_UNKNOWN; more may come.
             * @example WINDOW_CLOSED
             */
            code: string;
            /**
             * @description The channel provider's own code; null where it gave none.
             * @example 131047
             */
            providerCode: string | null;
            /** @example Re-engagement message */
            message: string;
        };
        UploadInput: {
            /**
             * @description The conversation that it is for.
             * @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11
             */
            conversationId: string;
            /** @example parcel.jpg */
            name: string;
            /**
             * @description Counts only where the bytes do not tell, as between kinds of plain text.
             * @example image/jpeg
             */
            contentType?: string;
            /**
             * @description Number of bytes.
             * @example 48211
             */
            size: number;
            /**
             * @description SHA-256 of the bytes, in hex. Content with another one is refused.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256?: string;
        };
        Upload: {
            /** @example 019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42 */
            id: string;
            /**
             * @description CREATED: send its content. READY: a message can take it. More may come.
             * @example CREATED
             * @enum {string}
             */
            state: "CREATED" | "READY";
            /** @example parcel.jpg */
            name: string;
            /**
             * @description Number of bytes.
             * @example 48211
             */
            size: number;
            /**
             * @description null until READY.
             * @example null
             * @enum {string|null}
             */
            kind: "IMAGE" | "AUDIO" | "VIDEO" | "FILE" | null;
            /**
             * @description By the bytes; null until READY.
             * @example null
             */
            contentType: string | null;
            /**
             * @description In hex; null until READY.
             * @example null
             */
            sha256: string | null;
            /**
             * @description Of a picture, in pixels.
             * @example null
             */
            width: number | null;
            /**
             * @description Of a picture, in pixels.
             * @example null
             */
            height: number | null;
            /**
             * Format: date-time
             * @description When it is deleted if its content is missing (after an hour) or no message takes it (after a day). null once a message has taken it.
             * @example 2026-11-20T10:41:07.512Z
             */
            expiresAt: string | null;
        };
        MessagePage: {
            data: components["schemas"]["Message"][];
            /**
             * @description Send it as `cursor` to get the next page. null on the last page.
             * @example null
             */
            nextCursor: string | null;
        };
        Message: {
            /** @example 019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90 */
            id: string;
            /**
             * @description CUSTOMER or AGENT; more may come.
             * @example AGENT
             */
            senderType: string;
            /**
             * @description null for a customer's message.
             * @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f
             */
            senderAgentId: string | null;
            /**
             * @description The present text: an edit replaces it. Empty after the message was erased, or its customer took it back.
             * @example Your parcel is on its way.
             */
            body: string;
            /**
             * @description Whether `body` describes the attachments, such as `[image]`, instead of a text of its sender.
             * @example false
             */
            isDescribed: boolean;
            /** @description In the order in which they were sent. */
            attachments: components["schemas"]["Attachment"][];
            /**
             * Format: date-time
             * @example 2026-11-20T09:41:07.512Z
             */
            createdAt: string;
            delivery: components["schemas"]["MessageDelivery"];
            /**
             * Format: date-time
             * @description When the customer last edited it; null if never.
             * @example null
             */
            editedAt: string | null;
            /**
             * Format: date-time
             * @description When the customer took it back, which erased it; null if never.
             * @example null
             */
            unsentAt: string | null;
            /** @description What there is now. A reaction is no message. */
            reactions: components["schemas"]["MessageReaction"][];
            /**
             * @description With `include=firstBody`: the text before the first edit; null if it was not edited, or was erased.
             * @example null
             */
            firstBody?: string | null;
        };
        MessageReaction: {
            /**
             * @description CUSTOMER; more may come.
             * @example CUSTOMER
             */
            senderType: string;
            /**
             * @description The emoji, or the provider's name of a reaction without one.
             * @example 👍
             */
            emoji: string;
        };
        MessageInput: {
            /**
             * @description Required without attachments. Not blank, valid Unicode, no NUL. Lower limits: Instagram 1000 UTF-8 bytes, Messenger 2000 characters. Never split or cut.
             * @example Your parcel is on its way.
             */
            body?: string;
            /**
             * @description Uploads for this conversation, by this key. The customer gets them after the body, in this order, each as far as the channel takes it.
             * @example []
             */
            attachments?: components["schemas"]["AttachmentInput"][];
            /**
             * @description The sender: an active agent or bot account. By default the workspace's first active OWNER or ADMIN.
             * @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f
             */
            senderAgentId?: string;
        };
        AttachmentInput: {
            /**
             * @description An upload whose bytes are stored.
             * @example 019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42
             */
            uploadId: string;
            /** @example The label of the parcel */
            caption?: string;
        };
        SentMessage: {
            message: components["schemas"]["Message"];
        };
        FoundMessagePage: {
            data: components["schemas"]["FoundMessage"][];
            /**
             * @description Send it as `cursor` to go on. A page may be short, or empty, before the last one. null when all messages were looked through.
             * @example null
             */
            nextCursor: string | null;
            /**
             * Format: date-time
             * @description Time of the oldest message that was looked at, when the page ends before it is full; otherwise null.
             * @example null
             */
            searchedUntil: string | null;
            /**
             * @description False while messages that are older than the search are still being added to its index: some are not found yet.
             * @example true
             */
            isIndexComplete: boolean;
        };
        FoundMessage: {
            /** @example 019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90 */
            id: string;
            /** @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11 */
            conversationId: string;
            /**
             * @description CUSTOMER or AGENT; more may come.
             * @example AGENT
             */
            senderType: string;
            /**
             * @description null for a customer's message.
             * @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f
             */
            senderAgentId: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:41:07.512Z
             */
            createdAt: string;
            /** @description The text around the first hit, in parts: one after the other, they are the excerpt. */
            excerpt: components["schemas"]["ExcerptPart"][];
            /** @example WHATSAPP */
            sourceChannel: components["schemas"]["Channel"];
            /** @example OPEN */
            status: components["schemas"]["ConversationStatus"];
            contact: components["schemas"]["ContactName"];
        };
        ExcerptPart: {
            /** @example parcel */
            text: string;
            /**
             * @description Whether it is a part that was searched for.
             * @example true
             */
            isHit: boolean;
        };
        AgentPage: {
            data: components["schemas"]["Agent"][];
            /**
             * @description Send it as `cursor` to get the next page. null on the last page.
             * @example null
             */
            nextCursor: string | null;
        };
        Agent: {
            /** @example 019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f */
            id: string;
            /**
             * @description The name that colleagues see; null after the agent was erased.
             * @example Ana Admin
             */
            name: string | null;
            /**
             * @description The name that customers see; null if they see none.
             * @example Ana
             */
            displayName: string | null;
            /**
             * @description null after the agent was erased.
             * @example ana@example.com
             */
            email: string | null;
            /** @example ADMIN */
            role: components["schemas"]["AgentRole"];
            /**
             * @description True for a bot account, which can't log in.
             * @example false
             */
            isBot: boolean;
            /**
             * @description Only active agents can be assigned conversations, and send messages.
             * @example true
             */
            active: boolean;
            /**
             * Format: date-time
             * @example 2026-11-02T08:15:30.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt: string;
        };
        /** @enum {string} */
        AgentRole: "OWNER" | "ADMIN" | "AGENT";
        WebhookEndpointPage: {
            data: components["schemas"]["WebhookEndpoint"][];
            /**
             * @description Send it as `cursor` to get the next page. null on the last page.
             * @example null
             */
            nextCursor: string | null;
        };
        WebhookEndpoint: {
            /** @example 019ab3f1-9a3b-7c44-8d55-6e7f8091a2b3 */
            id: string;
            /** @example CRM */
            name: string | null;
            /** @example null */
            description: string | null;
            /** @example https://hooks.example.com/messaging */
            url: string;
            /**
             * @description Event types, or `*` for all.
             * @example [
             *       "message.created"
             *     ]
             */
            events: string[];
            /**
             * @description Whether its deliveries have a `context`.
             * @example false
             */
            context: boolean;
            /**
             * @description Parts of the `context` that its deliveries have, where the event has them: what whoever switched the context on may read. The other parts are null.
             * @example []
             */
            contextParts: components["schemas"]["WebhookContextPart"][];
            /**
             * @description Whether it gets by itself what it has missed.
             * @example false
             */
            automaticRecovery: boolean;
            /** @example true */
            active: boolean;
            /**
             * @description Number of the present settings, which an edit can name.
             * @example 1
             */
            version: number;
            /**
             * @description Deliveries a second; null for no limit.
             * @example null
             */
            rateLimit: number | null;
            /**
             * Format: date-time
             * @description When the secret before the last roll ends; null if only the present one signs.
             * @example null
             */
            previousSecretEndsAt: string | null;
            /**
             * Format: date-time
             * @description Time of the first failure since the last success; null without one.
             * @example null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Time of the last success, to the minute; null before the first.
             * @example null
             */
            lastSuccessAt: string | null;
            /**
             * @description Why and when the service deactivated it; null while it is active, and after anybody else did.
             * @example null
             */
            deactivation: components["schemas"]["WebhookEndpointDeactivation"] | null;
            /**
             * @description Who made it, or took it over from a key that was replaced; null if that is not known.
             * @example {
             *       "type": "api_key",
             *       "id": "019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f"
             *     }
             */
            madeBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * @description Who set its `url` last; null if that is not known.
             * @example {
             *       "type": "agent",
             *       "id": "019ab3f2-1c2d-7e3f-8a4b-5c6d7e8f9a0b"
             *     }
             */
            urlSetBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * Format: date-time
             * @example 2026-11-02T08:15:30.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt: string;
        };
        /**
         * @description Parts of the `context` that its deliveries have, where the event has them: what whoever switched the context on may read. The other parts are null.
         * @enum {string}
         */
        WebhookContextPart: "conversation" | "contact" | "sender" | "attachments";
        WebhookEndpointDeactivation: {
            /**
             * @description gone: a delivery was answered with 410. failing: all deliveries failed for five days.
             * @example failing
             * @enum {string}
             */
            reason: "gone" | "failing";
            /**
             * Format: date-time
             * @example 2026-11-20T09:41:07.512Z
             */
            at: string;
        };
        WebhookEndpointMaker: {
            /**
             * @example api_key
             * @enum {string}
             */
            type: "agent" | "api_key" | "operator" | "system";
            /**
             * @description The id of the agent or the API key; null for an operator and the system.
             * @example 019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f
             */
            id: string | null;
        };
        WebhookEndpointInput: {
            /**
             * Format: uri
             * @description Address with https, of a public host; port 443, or 1024 and above; without credentials.
             * @example https://hooks.example.com/messaging
             */
            url: string;
            /**
             * @description Event types. A key may name those whose data it has the scope to read, so not `channel.status_changed`, `audit.event`, those of alerts, or `*`.
             * @example [
             *       "message.created",
             *       "conversation.updated"
             *     ]
             */
            events: string[];
            /**
             * @description Limit of deliveries a second, over all workers; no limit by default.
             * @example 50
             */
            rateLimit?: number;
            /**
             * @description Name by which people know the endpoint; none by default.
             * @example CRM
             */
            name?: string;
            /**
             * @description What the endpoint is for; none by default.
             * @example Copies messages to the CRM.
             */
            description?: string;
            /**
             * @description Whether each delivery has a fourth key, `context`: the conversation, its contact and the agent who wrote, as they are at the attempt. What the key that switches it on may not read is null.
             * @default false
             * @example false
             */
            context?: boolean;
            /**
             * @description Whether the endpoint gets what it has missed by itself: it is tried after 5 and 15 minutes, and then every 30 minutes, and once it answers, it gets the missed events, each up to three times.
             * @default false
             * @example true
             */
            automaticRecovery?: boolean;
        };
        RegisteredWebhookEndpoint: {
            /** @example 019ab3f1-9a3b-7c44-8d55-6e7f8091a2b3 */
            id: string;
            /** @example CRM */
            name: string | null;
            /** @example null */
            description: string | null;
            /** @example https://hooks.example.com/messaging */
            url: string;
            /**
             * @description Event types, or `*` for all.
             * @example [
             *       "message.created"
             *     ]
             */
            events: string[];
            /**
             * @description Whether its deliveries have a `context`.
             * @example false
             */
            context: boolean;
            /**
             * @description Parts of the `context` that its deliveries have, where the event has them: what whoever switched the context on may read. The other parts are null.
             * @example []
             */
            contextParts: components["schemas"]["WebhookContextPart"][];
            /**
             * @description Whether it gets by itself what it has missed.
             * @example false
             */
            automaticRecovery: boolean;
            /** @example true */
            active: boolean;
            /**
             * @description Number of the present settings, which an edit can name.
             * @example 1
             */
            version: number;
            /**
             * @description Deliveries a second; null for no limit.
             * @example null
             */
            rateLimit: number | null;
            /**
             * Format: date-time
             * @description When the secret before the last roll ends; null if only the present one signs.
             * @example null
             */
            previousSecretEndsAt: string | null;
            /**
             * Format: date-time
             * @description Time of the first failure since the last success; null without one.
             * @example null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Time of the last success, to the minute; null before the first.
             * @example null
             */
            lastSuccessAt: string | null;
            /**
             * @description Why and when the service deactivated it; null while it is active, and after anybody else did.
             * @example null
             */
            deactivation: components["schemas"]["WebhookEndpointDeactivation"] | null;
            /**
             * @description Who made it, or took it over from a key that was replaced; null if that is not known.
             * @example {
             *       "type": "api_key",
             *       "id": "019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f"
             *     }
             */
            madeBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * @description Who set its `url` last; null if that is not known.
             * @example {
             *       "type": "agent",
             *       "id": "019ab3f2-1c2d-7e3f-8a4b-5c6d7e8f9a0b"
             *     }
             */
            urlSetBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * Format: date-time
             * @example 2026-11-02T08:15:30.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt: string;
            /**
             * @description Shown only here, and only in the first answer: null when the request is repeated under its Idempotency-Key. A lost secret is replaced by rolling it.
             * @example whsec_3JgYl5oXhDkq0m7cV1bT9sWnE4uRzP6aKfLdHyQxGiM=
             */
            secret: string | null;
        };
        /** @description A new message landed on a conversation, from any sender: customer, agent or API. */
        MessageCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "message.created";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                message: {
                    id: string;
                    body: string;
                    senderType: string;
                    /** Format: date-time */
                    createdAt: string;
                };
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description What the event is about, as it is at the attempt: only for an endpoint that asks for it. A part is null when the event has none, when its contact is erased, or when whoever asked may not read it. */
        WebhookContext: {
            conversation: components["schemas"]["Conversation"] | null;
            contact: components["schemas"]["Contact"] | null;
            /** @description The agent who wrote; null for a customer's message. */
            sender: components["schemas"]["Agent"] | null;
            /** @description The files of the message, without their bytes; null for an event without a message. */
            attachments: components["schemas"]["Attachment"][] | null;
        };
        /** @description An agent's message got further on its way: SENT, DELIVERED, READ, FAILED or UNKNOWN. The furthest status counts. */
        MessageStatusChangedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "message.status_changed";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                messageId: string;
                /** @enum {string} */
                status: "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN";
                errorCode: string | null;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A customer changed a message: EDITED gave it a new text, UNSENT took it back, which erased it. Read the message for its text. */
        MessageUpdatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "message.updated";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                messageId: string;
                /** @enum {string} */
                change: "EDITED" | "UNSENT";
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description The bytes of an attachment are stored (READY), will not come (FAILED), or are fetched once more (PENDING). Read the message for the rest. */
        AttachmentUpdatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "attachment.updated";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                messageId: string;
                attachmentId: string;
                /** @enum {string} */
                kind: "IMAGE" | "AUDIO" | "VIDEO" | "FILE";
                /** @enum {string} */
                state: "PENDING" | "READY" | "FAILED";
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A conversation was opened. */
        ConversationCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "conversation.created";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                contactId: string;
                /** @enum {string} */
                sourceChannel: "WIDGET" | "WHATSAPP" | "TELEGRAM" | "MESSENGER" | "INSTAGRAM";
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A conversation's status or assigned agent changed. Only the keys of what changed are present. */
        ConversationUpdatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "conversation.updated";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                conversationId: string;
                /** @enum {string} */
                status?: "OPEN" | "SNOOZED" | "CLOSED";
                assignedAgentId?: string | null;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A contact was created: a customer wrote for the first time, or somebody added one. */
        ContactCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "contact.created";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                contactId: string;
                contact: components["schemas"]["Contact"];
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A contact's profile changed: changed names the fields, and contact has all of them. */
        ContactUpdatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "contact.updated";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                contactId: string;
                changed: ("name" | "email" | "phone" | "attributes" | "verified" | "identities")[];
                contact: components["schemas"]["Contact"];
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description Two contacts have proved to be one person. contactId has all that mergedContactId had, and the id of the latter leads to it. */
        ContactMergedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "contact.merged";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                contactId: string;
                mergedContactId: string;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A channel's connection was made, ended, works again, or needs new credentials (REAUTH_REQUIRED). */
        ChannelStatusChangedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "channel.status_changed";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                connectionId: string;
                /** @enum {string} */
                channel: "WIDGET" | "WHATSAPP" | "TELEGRAM" | "MESSENGER" | "INSTAGRAM";
                /** @enum {string} */
                status: "ACTIVE" | "REAUTH_REQUIRED" | "DISCONNECTED";
                /** @enum {string|null} */
                previousStatus: "ACTIVE" | "REAUTH_REQUIRED" | "DISCONNECTED" | null;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description Something of the workspace needs its owners: kind says what, and the subject which one. */
        AlertOpenedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "alert.opened";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                alertId: string;
                kind: string;
                subjectType: string;
                subjectId: string;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description What an alert told of has ended. */
        AlertResolvedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "alert.resolved";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                alertId: string;
                kind: string;
                subjectType: string;
                subjectId: string;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description A row was written to the audit log. Only for workspaces with the auditWebhookExport entitlement. */
        AuditEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "audit.event";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                action: string;
                entity: string;
                entityId: string;
                actorId: string;
                metadata: {
                    [key: string]: unknown;
                };
            };
            context?: components["schemas"]["WebhookContext"];
        };
        /** @description The Test button of a webhook endpoint was pressed. */
        WebhookTestEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event: "webhook.test";
            /**
             * Format: date-time
             * @description The moment of this attempt.
             */
            deliveredAt: string;
            data: {
                tenantId: string;
                test: boolean;
            };
            context?: components["schemas"]["WebhookContext"];
        };
        WebhookEndpointChanges: {
            /**
             * @description The `version` of the endpoint that you edit: if its settings were changed since, the edit is refused with 409. Without it the edit applies to the endpoint as it is by now. A body with it alone is refused.
             * @example 1
             */
            version?: number;
            /**
             * Format: uri
             * @description Address, as of a new endpoint.
             * @example https://hooks.example.com/messaging
             */
            url?: string;
            /**
             * @description Event types. A key may name those whose data it has the scope to read, so not `channel.status_changed`, `audit.event`, those of alerts, or `*`.
             * @example [
             *       "message.created",
             *       "conversation.updated"
             *     ]
             */
            events?: string[];
            /**
             * @description Limit of deliveries a second, over all workers; null for none.
             * @example 50
             */
            rateLimit?: number | null;
            /**
             * @description Name; null for none.
             * @example CRM
             */
            name?: string | null;
            /**
             * @description What the endpoint is for; null for nothing.
             * @example Copies messages to the CRM.
             */
            description?: string | null;
            /**
             * @description Whether each delivery has a fourth key, `context`: the conversation, its contact and the agent who wrote, as they are at the attempt. What the key that switches it on may not read is null.
             * @example false
             */
            context?: boolean;
            /**
             * @description Whether the endpoint gets what it has missed by itself: it is tried after 5 and 15 minutes, and then every 30 minutes, and once it answers, it gets the missed events, each up to three times.
             * @example true
             */
            automaticRecovery?: boolean;
            /**
             * @description False stops its deliveries, and what it is owed is cancelled. True starts them, for events from then on.
             * @example true
             */
            active?: boolean;
        };
        WebhookTest: {
            /**
             * @description The delivery of the test: its `x-service-delivery`.
             * @example 019ab3f7-2e1d-7a66-9c3b-7f8091a2b3c4
             */
            deliveryId: string;
            /**
             * @description The HTTP status of the receiver's answer; null without one.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 84
             */
            elapsedMs: number;
            /**
             * @description Why it failed; null for a success, which is any status from 200 to 299.
             * @example null
             */
            error: string | null;
        };
        SecretRoll: {
            /**
             * @description Time for which the previous secret signs too. 0 ends it at once.
             * @default 86400
             * @example 86400
             */
            gracePeriodSeconds?: number;
            /**
             * @description The secret that makes `x-service-signature` until the grace period ends.
             * @default previous
             * @example previous
             * @enum {string}
             */
            serviceSignature?: "previous" | "new";
        };
        WebhookEndpointWithSecret: {
            /** @example 019ab3f1-9a3b-7c44-8d55-6e7f8091a2b3 */
            id: string;
            /** @example CRM */
            name: string | null;
            /** @example null */
            description: string | null;
            /** @example https://hooks.example.com/messaging */
            url: string;
            /**
             * @description Event types, or `*` for all.
             * @example [
             *       "message.created"
             *     ]
             */
            events: string[];
            /**
             * @description Whether its deliveries have a `context`.
             * @example false
             */
            context: boolean;
            /**
             * @description Parts of the `context` that its deliveries have, where the event has them: what whoever switched the context on may read. The other parts are null.
             * @example []
             */
            contextParts: components["schemas"]["WebhookContextPart"][];
            /**
             * @description Whether it gets by itself what it has missed.
             * @example false
             */
            automaticRecovery: boolean;
            /** @example true */
            active: boolean;
            /**
             * @description Number of the present settings, which an edit can name.
             * @example 1
             */
            version: number;
            /**
             * @description Deliveries a second; null for no limit.
             * @example null
             */
            rateLimit: number | null;
            /**
             * Format: date-time
             * @description When the secret before the last roll ends; null if only the present one signs.
             * @example null
             */
            previousSecretEndsAt: string | null;
            /**
             * Format: date-time
             * @description Time of the first failure since the last success; null without one.
             * @example null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Time of the last success, to the minute; null before the first.
             * @example null
             */
            lastSuccessAt: string | null;
            /**
             * @description Why and when the service deactivated it; null while it is active, and after anybody else did.
             * @example null
             */
            deactivation: components["schemas"]["WebhookEndpointDeactivation"] | null;
            /**
             * @description Who made it, or took it over from a key that was replaced; null if that is not known.
             * @example {
             *       "type": "api_key",
             *       "id": "019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f"
             *     }
             */
            madeBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * @description Who set its `url` last; null if that is not known.
             * @example {
             *       "type": "agent",
             *       "id": "019ab3f2-1c2d-7e3f-8a4b-5c6d7e8f9a0b"
             *     }
             */
            urlSetBy: components["schemas"]["WebhookEndpointMaker"] | null;
            /**
             * Format: date-time
             * @example 2026-11-02T08:15:30.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-11-18T16:20:00.000Z
             */
            updatedAt: string;
            /**
             * @description Shown only here.
             * @example whsec_3JgYl5oXhDkq0m7cV1bT9sWnE4uRzP6aKfLdHyQxGiM=
             */
            secret: string;
        };
        /** @description Body of a webhook. More types may come, for endpoints that are subscribed to `*`. */
        WebhookEvent: components["schemas"]["MessageCreatedEvent"] | components["schemas"]["MessageStatusChangedEvent"] | components["schemas"]["MessageUpdatedEvent"] | components["schemas"]["AttachmentUpdatedEvent"] | components["schemas"]["ConversationCreatedEvent"] | components["schemas"]["ConversationUpdatedEvent"] | components["schemas"]["ContactCreatedEvent"] | components["schemas"]["ContactUpdatedEvent"] | components["schemas"]["ContactMergedEvent"] | components["schemas"]["ChannelStatusChangedEvent"] | components["schemas"]["AlertOpenedEvent"] | components["schemas"]["AlertResolvedEvent"] | components["schemas"]["AuditEvent"] | components["schemas"]["WebhookTestEvent"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type ApiKeyIdentity = components['schemas']['ApiKeyIdentity'];
export type Scope = components['schemas']['Scope'];
export type Tenant = components['schemas']['Tenant'];
export type Error = components['schemas']['Error'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type ErrorValues = components['schemas']['ErrorValues'];
export type ErrorDetail = components['schemas']['ErrorDetail'];
export type ContactPage = components['schemas']['ContactPage'];
export type Contact = components['schemas']['Contact'];
export type ContactIdentity = components['schemas']['ContactIdentity'];
export type Channel = components['schemas']['Channel'];
export type VerifiedField = components['schemas']['VerifiedField'];
export type ContactInput = components['schemas']['ContactInput'];
export type ContactIdentityInput = components['schemas']['ContactIdentityInput'];
export type ContactChanges = components['schemas']['ContactChanges'];
export type ConversationStatus = components['schemas']['ConversationStatus'];
export type ConversationPage = components['schemas']['ConversationPage'];
export type ConversationListItem = components['schemas']['ConversationListItem'];
export type ContactName = components['schemas']['ContactName'];
export type ConversationInput = components['schemas']['ConversationInput'];
export type Conversation = components['schemas']['Conversation'];
export type ConversationDetail = components['schemas']['ConversationDetail'];
export type ConversationChanges = components['schemas']['ConversationChanges'];
export type Attachment = components['schemas']['Attachment'];
export type MessageDelivery = components['schemas']['MessageDelivery'];
export type MessageDeliveryError = components['schemas']['MessageDeliveryError'];
export type UploadInput = components['schemas']['UploadInput'];
export type Upload = components['schemas']['Upload'];
export type MessagePage = components['schemas']['MessagePage'];
export type Message = components['schemas']['Message'];
export type MessageReaction = components['schemas']['MessageReaction'];
export type MessageInput = components['schemas']['MessageInput'];
export type AttachmentInput = components['schemas']['AttachmentInput'];
export type SentMessage = components['schemas']['SentMessage'];
export type FoundMessagePage = components['schemas']['FoundMessagePage'];
export type FoundMessage = components['schemas']['FoundMessage'];
export type ExcerptPart = components['schemas']['ExcerptPart'];
export type AgentPage = components['schemas']['AgentPage'];
export type Agent = components['schemas']['Agent'];
export type AgentRole = components['schemas']['AgentRole'];
export type WebhookEndpointPage = components['schemas']['WebhookEndpointPage'];
export type WebhookEndpoint = components['schemas']['WebhookEndpoint'];
export type WebhookContextPart = components['schemas']['WebhookContextPart'];
export type WebhookEndpointDeactivation = components['schemas']['WebhookEndpointDeactivation'];
export type WebhookEndpointMaker = components['schemas']['WebhookEndpointMaker'];
export type WebhookEndpointInput = components['schemas']['WebhookEndpointInput'];
export type RegisteredWebhookEndpoint = components['schemas']['RegisteredWebhookEndpoint'];
export type MessageCreatedEvent = components['schemas']['MessageCreatedEvent'];
export type WebhookContext = components['schemas']['WebhookContext'];
export type MessageStatusChangedEvent = components['schemas']['MessageStatusChangedEvent'];
export type MessageUpdatedEvent = components['schemas']['MessageUpdatedEvent'];
export type AttachmentUpdatedEvent = components['schemas']['AttachmentUpdatedEvent'];
export type ConversationCreatedEvent = components['schemas']['ConversationCreatedEvent'];
export type ConversationUpdatedEvent = components['schemas']['ConversationUpdatedEvent'];
export type ContactCreatedEvent = components['schemas']['ContactCreatedEvent'];
export type ContactUpdatedEvent = components['schemas']['ContactUpdatedEvent'];
export type ContactMergedEvent = components['schemas']['ContactMergedEvent'];
export type ChannelStatusChangedEvent = components['schemas']['ChannelStatusChangedEvent'];
export type AlertOpenedEvent = components['schemas']['AlertOpenedEvent'];
export type AlertResolvedEvent = components['schemas']['AlertResolvedEvent'];
export type AuditEvent = components['schemas']['AuditEvent'];
export type WebhookTestEvent = components['schemas']['WebhookTestEvent'];
export type WebhookEndpointChanges = components['schemas']['WebhookEndpointChanges'];
export type WebhookTest = components['schemas']['WebhookTest'];
export type SecretRoll = components['schemas']['SecretRoll'];
export type WebhookEndpointWithSecret = components['schemas']['WebhookEndpointWithSecret'];
export type WebhookEvent = components['schemas']['WebhookEvent'];
export type $defs = Record<string, never>;
export interface operations {
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyIdentity"];
                };
            };
        };
    };
    listContacts: {
        parameters: {
            query?: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description Searches name, e-mail and phone. Case, accents and a phone's spelling do not matter. A search that takes too long is answered with 503: search for more of the text. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactPage"];
                };
            };
        };
    };
    createContact: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactInput"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    getContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The contact's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    updateContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The contact's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactChanges"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description Only those with this status. */
                status?: components["schemas"]["ConversationStatus"];
                /** @description Only those on this channel. */
                channel?: components["schemas"]["Channel"];
                /** @description Only those that are assigned to the agent with this id; with `nobody`, those that nobody is assigned to. */
                assignedAgentId?: string;
                /** @description Only those with this contact. */
                contactId?: string;
                /** @description Only those that have got a message, or another status or agent, since then: an ISO 8601 time with its zone. A change can become visible some seconds after its time: whoever asks again and again asks for the last minute once more. */
                updatedSince?: string;
                /** @description Only those whose customer waits for a reply. Those that have waited longest come first, and each row has its `contact`. A reply, or closing or snoozing the conversation, ends the wait. Not together with `sort`. */
                needsReply?: "true";
                /** @description The order: with `activity` those with the latest messages come first, and each row has its `contact`. A conversation that gets a message while you read the pages moves to the first one: no page repeats it. By default the newest conversations come first. */
                sort?: "activity";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
        };
    };
    createConversation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationInput"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
        };
    };
    getConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The conversation's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetail"];
                };
            };
        };
    };
    updateConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The conversation's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationChanges"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
        };
    };
    retryAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The attachment's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Attachment"];
                };
            };
        };
    };
    createUpload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadInput"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
        };
    };
    getUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The upload's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
        };
    };
    deleteUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The upload's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    putUploadContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The upload's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
        };
    };
    uploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @example 019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11 */
                    conversationId: string;
                    /**
                     * @description SHA-256 of the bytes, in hex. Content with another one is refused.
                     * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                     */
                    sha256?: string;
                    /**
                     * Format: binary
                     * @description The last part, with a file name of at most 500 characters.
                     * @example bytes
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
        };
    };
    getAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The attachment's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Attachment"];
                };
            };
        };
    };
    getAttachmentContent: {
        parameters: {
            query?: {
                /** @description `rendition`: the thumbnail of a picture in WebP, or a voice message in MP3, where there is one. By default the original. */
                variant?: "original" | "rendition";
            };
            header?: never;
            path: {
                /** @description The attachment's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The bytes of the range. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description `firstBody`: each message with the text that it had before it was edited. */
                include?: "firstBody";
            };
            header?: never;
            path: {
                /** @description The conversation's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
        };
    };
    sendMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The conversation's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageInput"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentMessage"];
                };
            };
        };
    };
    searchMessages: {
        parameters: {
            query: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                /** @description Words that a message must all have, and phrases between quotation marks. Case and accents do not matter, and the last letters of a word may be left out. A search that takes too long is answered with 503. */
                q: string;
                /** @description Only messages of conversations with this status. */
                status?: components["schemas"]["ConversationStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundMessagePage"];
                };
            };
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointPage"];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointInput"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredWebhookEndpoint"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook endpoint's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook endpoint's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook endpoint's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointChanges"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook endpoint's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
        };
    };
    rollWebhookEndpointSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook endpoint's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretRoll"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
}
