/// The parts of pages: state, alerts, charts, facts, runbook, sign-in.
enum StylesheetParts {
    static let text = """
        .state { padding: 4px 0 4px 14px; border-left: 4px solid var(--calm); margin-bottom: 16px; }
        .state p { color: var(--soft); }
        .state.quiet h1 { color: var(--calm); }
        .state.burning { border-color: var(--alarm); }
        .state.burning h1 { color: var(--alarm); }
        .state.unsure { border-color: var(--warn); }
        .state form { margin-top: 12px; }
        .state .actions form { margin-top: 0; }
        .notice {
          background: var(--warn-ground); border: 1px solid var(--warn-line); border-radius: 6px; padding: 10px 14px; margin-bottom: 16px;
        }
        .over { color: var(--soft); font-size: 14px; overflow-wrap: anywhere; }
        .tag {
          display: inline-block; border: 1px solid currentColor; border-radius: 4px; padding: 0 6px; font-size: 13px; font-weight: 600;
          color: var(--alarm);
        }
        .ticket .tag, .info .tag { color: var(--warn); }
        .alert {
          background: var(--alarm-ground); border: 1px solid var(--alarm-line); border-left: 4px solid var(--alarm); border-radius: 6px;
          padding: 14px 16px; margin-bottom: 16px;
        }
        .alert > * + * { margin-top: 8px; }
        .alert.taken, .alert.ticket, .alert.info { background: var(--panel); border-color: var(--line); border-left-color: var(--alarm); }
        .alert.ticket, .alert.info { border-left-color: var(--warn); }
        .alert h2 { font-size: 18px; }
        .alert h2 a { color: var(--ink); text-decoration: none; display: inline-block; padding: 2px 0; }
        .alert h2 a:hover { text-decoration: underline; }
        .figures strong { font-size: 22px; color: var(--alarm); margin-right: 4px; }
        .alert.ticket .figures strong, .alert.info .figures strong { color: var(--warn); }
        .figures .soft::before { content: "· "; }
        .action { max-width: 78ch; }
        .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 20px; }
        .actions a { padding: 11px 0; }
        .figure strong { font-size: 22px; font-weight: 650; margin-right: 2px; }
        .chart { display: block; overflow: visible; }
        .chart text { font-size: 11.5px; fill: var(--soft); paint-order: stroke; stroke: var(--panel); stroke-width: 3px; }
        .chart text.strong { fill: var(--ink); font-weight: 600; }
        .chart line { stroke: var(--grid); stroke-width: 1; shape-rendering: crispEdges; }
        .chart line.base { stroke: var(--soft); }
        .chart line.threshold { stroke: var(--ink); stroke-dasharray: 5 4; }
        .chart line.marker { stroke: var(--ink); }
        .chart path { vector-effect: non-scaling-stroke; fill: none; }
        .chart .area-attempts { fill: var(--attempts-area); }
        .chart .line-attempts { stroke: var(--attempts); stroke-width: 1.5; }
        .chart .area-bad { fill: var(--bad-area); }
        .chart .line-bad { stroke: var(--bad); stroke-width: 1.5; }
        .chart .band { fill: var(--band); }
        .strip { min-width: 180px; max-width: 420px; margin-top: 4px; }
        .chart.strip line.base { stroke: var(--line); }
        .strip .spell { fill: var(--bad); }
        .strip .spell.would { fill: var(--attempts); }
        .strip .spell.noise { fill: none; stroke: var(--r-unknown); stroke-width: 1.5; }
        .key { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 4px; }
        .key.k-attempts, .key.k-bad { height: 3px; width: 14px; vertical-align: middle; }
        .k-attempts, .k-would { background: var(--attempts); }
        .k-was { background: var(--bad); }
        .k-noise { border: 1.5px solid var(--r-unknown); }
        .k-bad { background: var(--bad); }
        .legend { color: var(--soft); font-size: 13px; }
        .legend .key + .key, .legend .k-bad { margin-left: 12px; }
        .r-provider-5xx { fill: var(--r-provider-5xx); background: var(--r-provider-5xx); }
        .r-auth { fill: var(--r-auth); background: var(--r-auth); }
        .r-network { fill: var(--r-network); background: var(--r-network); }
        .r-token-not-registered { fill: var(--r-token-not-registered); background: var(--r-token-not-registered); }
        .r-token-invalid { fill: var(--r-token-invalid); background: var(--r-token-invalid); }
        .r-unknown { fill: var(--r-unknown); background: var(--r-unknown); }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(108px, 1fr)); gap: 8px 16px; }
        .facts dt, .numbers dt { color: var(--soft); font-size: 13px; }
        .facts dd, .numbers dd { margin: 0; overflow-wrap: anywhere; }
        .numbers > div { display: grid; grid-template-columns: 108px minmax(0, 1fr); gap: 12px; padding: 5px 0; border-top: 1px solid var(--grid); }
        .plainList { list-style: none; padding: 0; }
        .runbook { max-width: 78ch; }
        .runbook p, .runbook li { max-width: 72ch; }
        .runbook > * + * { margin-top: 10px; }
        .runbook ol, .runbook ul { padding-left: 22px; }
        .runbook li + li { margin-top: 10px; }
        .runbook li > pre, .runbook li > .scroll, .runbook li > p { margin-top: 8px; }
        .runbook h3, .runbook h4 { margin-top: 16px; font-size: 15px; }
        .runbook td { overflow-wrap: normal; }
        .signIn { max-width: 440px; margin: 6vh auto 0; padding: 24px; }
        .signIn form { display: grid; gap: 8px; margin: 16px 0; }
        .signIn input { font: inherit; min-height: 44px; padding: 0 12px; border: 1px solid var(--soft); border-radius: 5px; background: var(--ground); color: var(--ink); min-width: 0; }
        .signIn button { margin-top: 8px; }

        """
}
