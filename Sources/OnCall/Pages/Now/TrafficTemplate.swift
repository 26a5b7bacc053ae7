/// Send rate, failures by reason, providers.
extension PageTemplate {
    static let traffic = PageTemplate(
        "traffic",
        """
        {{#traffic}}
        <div class="panels">
        <section class="panel">
        <h2>Send attempts</h2>
        <p class="figure"><strong>{{rate}}</strong> a minute <span class="soft">over 15 min</span></p>
        {{{rateChart}}}
        <p class="legend"><span class="key k-attempts"></span> attempts a minute <span class="key k-bad"></span> failed</p>
        <details><summary>Numbers of the last 3 hours</summary>
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">From</th><th scope="col" class="n">Attempts</th><th scope="col" class="n">Failed</th>\
        <th scope="col" class="n">Share</th></tr></thead>
        <tbody>
        {{#table}}<tr><td><time datetime="{{timeAttribute}}">{{time}}</time></td><td class="n">{{attempts}}</td><td class="n">{{bad}}</td><td class="n">{{share}}</td></tr>
        {{/table}}
        </tbody></table></div>
        </details>
        </section>
        <section class="panel">
        <h2>Failures by reason</h2>
        <p class="figure"><strong>{{failed}}</strong> failed <span class="soft">over 15 min</span></p>
        {{{reasonChart}}}
        {{#hasReasons}}
        <div class="scroll" tabindex="0"><table class="legendTable">
        <thead><tr><th scope="col">Reason</th><th scope="col" class="n">15 min</th><th scope="col" class="n">Share</th>\
        <th scope="col" class="n">3 h</th></tr></thead>
        <tbody>
        {{#reasons}}<tr><td><span class="key {{cssClass}}"></span> {{reason}}</td><td class="n">{{recent}}</td>\
        <td class="n">{{recentShare}}</td><td class="n">{{whole}}</td></tr>
        {{/reasons}}
        </tbody></table></div>
        {{/hasReasons}}
        {{^hasReasons}}<p class="soft">No failed attempts in the last 3 hours.</p>{{/hasReasons}}
        </section>
        <section class="panel">
        <h2>Providers, last 15 minutes</h2>
        {{#hasProviders}}
        <div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Provider</th><th scope="col" class="n">A minute</th><th scope="col" class="n">Failed</th>\
        <th scope="col" class="n">Mean latency</th></tr></thead>
        <tbody>
        {{#providers}}<tr><td>{{provider}}{{#mostly}}<span class="detail">{{.}}</span>{{/mostly}}</td>\
        <td class="n">{{rate}}</td><td class="n">{{failed}}</td><td class="n">{{latency}}</td></tr>
        {{/providers}}
        </tbody></table></div>
        {{/hasProviders}}
        {{^hasProviders}}<p class="soft">No attempts in the last 3 hours.</p>{{/hasProviders}}
        </section>
        {{/traffic}}

        """
    )
}
