/// What each panel shows of `CookbookSample`'s day, worked out by hand.
enum GrafanaAnswers {
    /// Beside the cookbook's day: two writers from nine to almost eleven, a week's few dead tokens, a page that was delivered, one that
    /// waits, how far the rules are, a second device, a throttle.
    static let alsoStored = """
        INSERT INTO writerHeartbeats SELECT minute, gen_random_uuid()
            FROM generate_series('2026-03-10 09:00Z'::timestamptz, '2026-03-10 10:58Z', '1 minute') AS minute, generate_series(1, 2);
        INSERT INTO attemptRollups VALUES
            ('2026-03-09 20:00Z', 'apns', 'ios', 'send', 'sent', '', 'ios.app', '', '', 0, 98, 0, 0),
            ('2026-03-09 20:00Z', 'apns', 'ios', 'send', 'failed', 'token_not_registered', 'ios.app', '', '', 0, 2, 0, 0),
            ('2026-03-10 11:50Z', 'apns', 'ios', 'send', 'deactivated', 'token_invalid', 'ios.app', '', '', 0, 1, 0, 0);
        INSERT INTO notificationAttempts (alertId, receiver, seq, result, attemptedAt, status, latencyMs)
            VALUES ('00000000-0000-0000-0000-000000000001', 'webhook', 1, 'retry', '2026-03-10 10:05:01Z', 503, 80),
                   ('00000000-0000-0000-0000-000000000001', 'webhook', 1, 'delivered', '2026-03-10 10:05:06Z', 200, 40);
        INSERT INTO alertTransitions VALUES
            ('00000000-0000-0000-0000-000000000001', 1, 'firing', 'r', '2026-03-10 10:04Z', '{}', '{}', 1, '2026-03-10 10:05Z');
        INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            VALUES ('00000000-0000-0000-0000-000000000001', 'mail', 1, 'firing', 'pending', '2026-03-10 10:05Z', '2026-03-10 10:05Z');
        INSERT INTO alertRuleProgress VALUES
            ('A', 'v', '2026-03-10 11:58Z', '2026-03-10 12:00Z'), ('B', 'v', '2026-03-10 11:55Z', '2026-03-10 12:00Z');
        INSERT INTO devices VALUES
            ('u-2', 'tablet', 'android', 'fcm', 'production', 'android.app', 'raw', 'sha256:\(String(repeating: "02", count: 32))',
             'inactive', 'UNREGISTERED', '2026-03-10 09:00Z', NULL, NULL, '15', '2.0', NULL, 3, '2026-01-01Z', '2026-01-02Z',
             '2026-01-20Z', '2026-04-20Z');
        INSERT INTO pushSends (sendId, requestId, author, content, contentHash, class, policy, createdAt, notBefore, expiresAt)
            VALUES ('S1', 'r', 'key', '{}', ''::bytea, 'normal', 'at_least_once', '2026-03-10 10:00Z', NULL, '2026-03-11Z');
        INSERT INTO pushThrottles VALUES
            ('fcm', '', 120, 'outage', 'ana', '2026-03-10 10:06Z', '2026-03-10 13:00Z', 0, '2026-03-10 10:06Z');
        """

    static let expected: [String: [String]] = [
        "pushwatch-alert-rules/provider_5xx, share of 15 minutes": [
            #"(1773136800,apns,0)"#,
            #"(1773136800,fcm,0.5)"#,
            #"(1773140400,apns,0)"#,
            #"(1773144000,apns,0)"#,
        ],
        "pushwatch-alert-rules/auth, share of 10 minutes": [
            #"(1773136800,apns,0)"#,
            #"(1773136800,fcm,0)"#,
            #"(1773140400,apns,0)"#,
        ],
        "pushwatch-alert-rules/token_not_registered ÷ the week's mean": [
            #"("2026-03-10 10:00:00+00",apns,0)"#,
            #"("2026-03-10 11:00:00+00",apns,25.5)"#,
        ],
        "pushwatch-alert-rules/Alerts fired, by severity": [
            #"(1773100800,page,1)"#
        ],
        "pushwatch-alert-rules/Rules: alerts, time to acknowledge and to resolve": [
            #"(ProviderOutage,1,1,120,1200,0)"#
        ],
        "pushwatch-alert-rules/Deliveries to receivers": [
            #"(webhook,delivered,1,40,"2026-03-10 10:05:06+00")"#,
            #"(webhook,retry,1,80,"2026-03-10 10:05:01+00")"#,
        ],
        "pushwatch-alert-rules/Not delivered yet": [
            #"(1,0)"#
        ],
        "pushwatch-alert-rules/Rules evaluated until": [
            #"(300)"#
        ],
        "pushwatch-delivery/APNs: sends per minute, by outcome": [
            #"(1773136800,sent,0.03333333333333333333)"#,
            #"(1773140400,deactivated,0.01666666666666666667)"#,
            #"(1773140400,failed,0.03333333333333333333)"#,
            #"(1773140400,sent,0.01666666666666666667)"#,
        ],
        "pushwatch-delivery/APNs: failures, by reason": [
            #"(1773140400,token_invalid,0.01666666666666666667)"#,
            #"(1773140400,token_not_registered,0.03333333333333333333)"#,
        ],
        "pushwatch-delivery/APNs: share accepted, compared with a week before": [
            #"(1773136800,now,1)"#,
            #"(1773136800,"a week before",1)"#,
            #"(1773140400,now,0.25)"#,
        ],
        "pushwatch-delivery/FCM: sends per minute, by outcome": [
            #"(1773136800,failed,0.06666666666666666667)"#,
            #"(1773136800,sent,0.01666666666666666667)"#,
        ],
        "pushwatch-delivery/FCM: failures, by reason": [
            #"(1773136800,provider_5xx,0.01666666666666666667)"#,
            #"(1773136800,unknown,0.05000000000000000000)"#,
        ],
        "pushwatch-delivery/FCM: share accepted, compared with a week before": [
            #"(1773136800,now,0.2)"#
        ],
        "pushwatch-delivery/The providers' own codes": [
            #"(apns,Unregistered,token_not_registered,2,1,"2026-03-10 11:05:00+00")"#,
            #"(fcm,QUOTA_EXCEEDED,unknown,2,1,"2026-03-10 10:20:00+00")"#,
            #"(fcm,"(none)",unknown,1,1,"2026-03-10 10:21:00+00")"#,
            #"(fcm,UNAVAILABLE,provider_5xx,1,1,"2026-03-10 10:00:10+00")"#,
        ],
        "pushwatch-delivery/By app version": [
            #"(android.app,2.0,5,0.2)"#,
            #"(ios.app,1.0,4,0.5)"#,
            #"(ios.app,1.1,1,1)"#,
        ],
        "pushwatch-delivery/Time to the answer: median and 95th percentile": [
            #"(1773136800,"apns 95th",29)"#,
            #"(1773136800,"apns median",20)"#,
            #"(1773136800,"fcm 95th",290)"#,
            #"(1773136800,"fcm median",200)"#,
            #"(1773140400,"apns 95th",47)"#,
            #"(1773140400,"apns median",20)"#,
        ],
        "pushwatch-delivery/Success by number of the try": [
            #"("try 1",0.3333333333333333)"#,
            #"("try 2",0.5)"#,
        ],
        "pushwatch-ingest-and-queue/Attempts stored per minute, by event": [
            #"(1773133200,send,0.01666666666666666667)"#,
            #"(1773133200,unregister,0.01666666666666666667)"#,
            #"(1773136800,send,0.11666666666666666667)"#,
            #"(1773140400,register,0.01666666666666666667)"#,
            #"(1773140400,send,0.06666666666666666667)"#,
        ],
        "pushwatch-ingest-and-queue/Instances that could write": [
            #"(1773100800,instances,0)"#,
            #"(1773104400,instances,0)"#,
            #"(1773108000,instances,0)"#,
            #"(1773111600,instances,0)"#,
            #"(1773115200,instances,0)"#,
            #"(1773118800,instances,0)"#,
            #"(1773122400,instances,0)"#,
            #"(1773126000,instances,0)"#,
            #"(1773129600,instances,0)"#,
            #"(1773133200,instances,2)"#,
            #"(1773136800,instances,0)"#,
            #"(1773140400,instances,0)"#,
        ],
        "pushwatch-ingest-and-queue/From the try to its storage": [
            #"(1773133200,"99th percentile",10782)"#,
            #"(1773133200,median,9900)"#,
            #"(1773136800,"99th percentile",7199.4)"#,
            #"(1773136800,median,6600)"#,
            #"(1773140400,"99th percentile",3591)"#,
            #"(1773140400,median,2550)"#,
        ],
        "pushwatch-ingest-and-queue/Attempts without an outcome": [
            #"(1773133200,android.app,1)"#
        ],
        "pushwatch-ingest-and-queue/Queue, by queue": [
            #"(android.app,fcm,normal,1,7200,1,0,1)"#,
            #"(ios.app,apns,critical,0,,0,0,0)"#,
        ],
        "pushwatch-ingest-and-queue/Deliveries ended, by outcome": [
            #"(1773136800,failed,0.01666666666666666667)"#,
            #"(1773136800,sent,0.01666666666666666667)"#,
        ],
        "pushwatch-ingest-and-queue/From the request to the outcome": [
            #"(1773136800,"95th percentile",1)"#,
            #"(1773136800,median,1)"#,
        ],
        "pushwatch-ingest-and-queue/Dead deliveries, by reason": [
            #"(android.app,fcm,failed,auth,THIRD_PARTY_AUTH_ERROR,1,"2026-03-10 10:00:02+00")"#
        ],
        "pushwatch-ingest-and-queue/Throttles in force": [
            #"(fcm,"(every app)",120,outage,ana,"2026-03-10 13:00:00+00")"#
        ],
        "pushwatch-overview/Sends accepted": [
            #"(0.36363636363636365)"#
        ],
        "pushwatch-overview/Sends": [
            #"(11)"#
        ],
        "pushwatch-overview/Alerts firing": [
            #"(0)"#
        ],
        "pushwatch-overview/Waiting to be sent": [
            #"(1)"#
        ],
        "pushwatch-overview/Oldest waiting": [
            #"(7200)"#
        ],
        "pushwatch-overview/Last attempt stored": [
            #"(600)"#
        ],
        "pushwatch-overview/Sends per minute, by outcome": [
            #"(1773136800,failed,0.06666666666666666667)"#,
            #"(1773136800,sent,0.05000000000000000000)"#,
            #"(1773140400,deactivated,0.01666666666666666667)"#,
            #"(1773140400,failed,0.03333333333333333333)"#,
            #"(1773140400,sent,0.01666666666666666667)"#,
        ],
        "pushwatch-overview/Failures, by reason": [
            #"(1773136800,provider_5xx,0.01666666666666666667)"#,
            #"(1773136800,unknown,0.05000000000000000000)"#,
            #"(1773140400,token_invalid,0.01666666666666666667)"#,
            #"(1773140400,token_not_registered,0.03333333333333333333)"#,
        ],
        "pushwatch-overview/Share of sends that fail, by provider": [
            #"(1773136800,apns,0)"#,
            #"(1773136800,fcm,0.8)"#,
            #"(1773140400,apns,0.75)"#,
        ],
        "pushwatch-overview/Time to the provider's answer, by provider": [
            #"(1773136800,apns,20)"#,
            #"(1773136800,fcm,200)"#,
            #"(1773140400,apns,30)"#,
        ],
        "pushwatch-overview/Alerts": [
            #"("2026-03-10 10:05:00+00",ProviderOutage,provider=fcm,page,resolved,00:20:00,00:02:00,ana)"#
        ],
        "pushwatch-tokens/Devices, by state of their token": [
            #"(1,0,1)"#
        ],
        "pushwatch-tokens/Not seen for 30 days": [
            #"(1)"#
        ],
        "pushwatch-tokens/Registrations and removals": [
            #"(1773133200,unregister,1)"#,
            #"(1773140400,register,1)"#,
        ],
        "pushwatch-tokens/Sends to dead tokens, by reason": [
            #"(1773140400,token_invalid,1)"#,
            #"(1773140400,token_not_registered,2)"#,
        ],
        "pushwatch-tokens/Tokens deactivated": [
            #"(1773140400,apns,1)"#
        ],
        "pushwatch-tokens/Back after token_not_registered": [
            #"("an hour",1)"#
        ],
        "pushwatch-tokens/Devices, by app version": [
            #"(android.app,android,2.0,1,1,"2026-01-20 00:00:00+00")"#,
            #"(ios.app,ios,1.1,1,0,"2026-03-10 11:40:00+00")"#,
        ],
        "pushwatch-tokens/Why tokens are inactive": [
            #"(inactive,UNREGISTERED,fcm,production,1,"2026-03-10 09:00:00+00")"#
        ],
    ]
}
