/** A gate for a zone: draw the zone, deploy `WithinGate` with a wallet, and send it a signed result about a point (decision 166). */

import type { IssuerChain } from '../../../src/client/answers.ts'
import { ApiError, ConnectionError } from '../../../src/client/client.ts'
import type { Geometry, Point } from '../../../src/types/generated.ts'
import { defaultChainId } from '../chains.ts'
import { announce, copy, h, replace, toast } from '../dom.ts'
import { fact, hexButton } from '../facts.ts'
import { clockUtc, degreesText, whole } from '../format.ts'
import { readText } from '../geo/read-text.ts'
import type { LonLat } from '../geo/shape.ts'
import { icon } from '../icons.ts'
import type { Engine } from '../kernel.ts'
import type { BaseMap, Scene } from '../map/base-map.ts'
import { type Drawing, type DrawKind, startDrawing } from '../map/drawing.ts'
import { createHandles, type Handles } from '../map/handles.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { addressOf, noteQuery } from '../router.ts'
import {
  connectWallet,
  describeWalletError,
  type FoundWallet,
  findWallets,
  type Wallet,
  type WalletAccount,
} from '../wallets.ts'
import { type Actor, type AttestedPoint, attestLocation, deployGate, registerGate, sendResult } from './actions.ts'
import {
  type Admission,
  createSender,
  type GateFacts,
  GateFault,
  Reverted,
  readAdmission,
  readGate,
  refreshDelayMs,
  sameAddress,
  UnusableGate,
} from './chain.ts'
import { createReadout } from './readout.ts'
import { boxOfZone, drawZone, GATE_SCENE } from './scene.ts'
import { createSteps } from './steps.ts'
import { createWalletPanel } from './wallet-panel.ts'
import { decodeLink, EXAMPLES, encodeLink, firstPoint, isAddress, MAX_LINK_CHARACTERS, type Zone } from './zone.ts'
import { createZonePanel } from './zone-panel.ts'

/** Code of EIP-3085: the wallet does not know the chain. */
const UNKNOWN_CHAIN = 4902

export function createGatePage(parts: PageParts): Page {
  const { api } = parts
  let zone: Zone = EXAMPLES[0]!.zone
  let point: LonLat = firstPoint(zone)
  let chainId: number | undefined
  let hasChosenChain = false
  let gate: string | undefined
  let facts: GateFacts | undefined
  let admission: Admission | undefined
  /** Whether the contract at the address is no gate that the page can use. */
  let isUnusable = false
  /** Name of the contract's error, if the last result was rejected. */
  let rejection: string | undefined
  const gas: { deploy?: number; register?: number; call?: number } = {}
  let wallet: Wallet | undefined
  let account: Pick<WalletAccount, 'address' | 'chainId'> | undefined
  let isBusy = false
  let attested: AttestedPoint | undefined
  let drawing: { readonly kind: DrawKind; readonly forPoint: boolean; readonly work: Drawing } | undefined
  let expiry: ReturnType<typeof setTimeout> | undefined

  let engine: Engine | undefined
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let handles: Handles | undefined
  let isShown = false

  const sender = createSender()
  const mapSlot = h('div', { class: 'map-slot' })
  const readout = createReadout()
  const zonePanel = createZonePanel(changeZone, chooseZone, (kind) => draw(kind, false))
  const walletPanel = createWalletPanel({
    connect: (found) => void connect(found),
    chooseChain: (chosen) => {
      hasChosenChain = true
      chainId = chosen
      remember()
      show()
    },
    switchChain: () => void switchChain(),
  })

  const deploySteps = createSteps('Deployment')
  const deployProblem = h('div', { class: 'stack' })
  const gateFacts = h('dl', { class: 'facts' })
  const locator = h('input', {
    class: 'input mono',
    id: 'gate-locator',
    placeholder: 'Your own account',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'gate-locator-hint',
  })
  const locatorField = h(
    'details',
    {},
    h('summary', {}, 'Who attests locations'),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'gate-locator' }, 'Location attester'),
      locator,
      h(
        'p',
        { class: 'hint', id: 'gate-locator-hint' },
        'The gate trusts the location attestations of this account. With your own account you can try the gate, but you could open it from anywhere. A real gate names an account that checks evidence.',
      ),
    ),
  )
  const deployButton = h('button', { class: 'button primary', type: 'button', onclick: () => void deploy() })
  const newButton = h('button', { class: 'button', type: 'button', onclick: () => forget() }, 'New gate')
  const linkButton = h(
    'button',
    {
      class: 'button',
      type: 'button',
      onclick: () => void copy(`${location.origin}${addressOf({ page: 'gate', query: query() })}`, 'Link'),
    },
    icon('share'),
    'Copy link',
  )

  const sendSteps = createSteps('The point')
  const sendProblem = h('div', { class: 'stack' })
  const pointInput = h('input', {
    class: 'input mono',
    id: 'gate-point',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'gate-point-message',
    oninput: () => readPoint(),
    onchange: () => showAll(),
  })
  const pointMessage = h('p', { class: 'hint', id: 'gate-point-message', 'aria-live': 'polite' })
  const pointButton = h(
    'button',
    {
      class: 'icon-button',
      type: 'button',
      'aria-label': 'Choose the point on the map',
      title: 'Choose the point on the map',
      'aria-pressed': 'false',
      onclick: () => draw('point', true),
    },
    icon('point'),
  )
  const pointField = h(
    'div',
    { class: 'field' },
    h('label', { for: 'gate-point' }, 'Point P'),
    h('div', { class: 'gate-point-row' }, pointInput, pointButton),
    pointMessage,
  )
  const uidInput = h('input', {
    class: 'input mono',
    id: 'gate-uid',
    placeholder: '0x…',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const uidField = h(
    'div',
    { class: 'field' },
    h('label', { for: 'gate-uid' }, 'UID of your location attestation'),
    uidInput,
    h(
      'p',
      { class: 'hint' },
      'This gate trusts the location attestations of another account, so yours must come from it.',
    ),
  )
  const sendButton = h(
    'button',
    { class: 'button primary', type: 'button', onclick: () => void send() },
    'Send to the gate',
  )

  const rail = h(
    'div',
    { class: 'rail' },
    h(
      'div',
      { class: 'rail-head' },
      h('h1', { class: 'page-title' }, 'Gate'),
      h(
        'p',
        { class: 'lead' },
        'Deploy a contract that opens for people within a zone, and send it a signed result. ',
        h('a', { href: '/docs/guide/solidity' }, 'About gates'),
      ),
    ),
    zonePanel.element,
    walletPanel.element,
    h(
      'section',
      { class: 'panel', 'aria-label': 'Contract' },
      h('h2', { class: 'eyebrow' }, '3. Contract'),
      locatorField,
      gateFacts,
      h('div', { class: 'row' }, deployButton, newButton, linkButton),
      deploySteps.element,
      deployProblem,
    ),
    h(
      'section',
      { class: 'panel', 'aria-label': 'Point' },
      h('h2', { class: 'eyebrow' }, '4. Point'),
      pointField,
      uidField,
      h('div', { class: 'row' }, sendButton),
      sendSteps.element,
      sendProblem,
    ),
  )
  const stage = h('div', { class: 'stage' }, mapSlot, readout.element)
  const element = h('div', { class: 'compute lab gate', role: 'region', 'aria-label': 'Gate' }, stage, rail)

  // A wallet may announce itself at once, when the rest of the page is not there yet.
  const wallets = findWallets(() => isShown && show())
  document.addEventListener('issuer', useIssuer)
  useIssuer()
  parts.engine.then(
    (loaded) => {
      engine = loaded
      drawAll()
      showAll(false)
    },
    (error) => toast(`The zone cannot be drawn: ${error instanceof Error ? error.message : error}`),
  )

  return {
    element,
    enter(query) {
      isShown = true
      if (query.size > 0) open(query)
      else remember()
      show()
      parts.takeMap(mapSlot).then(useMap, () => {}) // the slot shows that the map failed
      if (gate !== undefined) void refresh()
    },
    leave() {
      isShown = false
      drawing?.work.cancel()
      handles?.clear()
      clearTimeout(expiry)
    },
  }

  // What the page shows.

  function chain(): IssuerChain | undefined {
    return parts.issuer()?.chains.find((one) => one.chainId === chainId && one.rpc === true)
  }

  function show(): void {
    const isLocked = gate !== undefined
    zonePanel.show(zone, drawing?.forPoint === false ? drawing.kind : undefined, isLocked || isBusy)
    walletPanel.show({ found: wallets(), account, wallet, issuer: parts.issuer(), chainId, isBusy, isLocked })
    const isReady = account !== undefined && chain() !== undefined && !isBusy
    const needsSchema = gate !== undefined && facts?.isRegistered !== true
    deployButton.textContent = needsSchema ? 'Finish the gate' : 'Deploy the gate'
    deployButton.hidden = gate !== undefined && !needsSchema
    deployButton.disabled = !isReady || isUnusable
    newButton.hidden = gate === undefined
    newButton.disabled = isBusy
    locatorField.hidden = isLocked
    locator.disabled = isBusy
    const trusted = facts?.terms.locationAttester
    const isOwn = trusted === undefined || account === undefined || sameAddress(trusted, account.address)
    replace(
      gateFacts,
      gate !== undefined && fact('Contract', hexButton(gate, 'Address of the gate')),
      trusted !== undefined &&
        fact('Trusts locations by', isOwn ? 'your account' : hexButton(trusted, 'Location attester')),
      gas.deploy !== undefined && fact('Gas of the deployment', whole(gas.deploy)),
      gas.register !== undefined && fact('Gas of the registration', whole(gas.register)),
      gas.call !== undefined && fact('Gas of the last call', whole(gas.call)),
    )
    gateFacts.hidden = gateFacts.childElementCount === 0
    pointField.hidden = !isOwn
    uidField.hidden = isOwn
    pointInput.disabled = isBusy
    pointButton.disabled = isBusy
    pointButton.setAttribute('aria-pressed', String(drawing?.forPoint === true))
    uidInput.disabled = isBusy
    if (document.activeElement !== pointInput) showPoint()
    sendButton.disabled = !isReady || facts?.isRegistered !== true
    readout.show({
      gate,
      isChecked: facts !== undefined,
      isUnusable,
      admission,
      rejection,
      person: account?.address,
      gas,
    })
    drawAll()
  }

  function showPoint(): void {
    pointInput.value = degreesText(point[0], point[1], 6)
    pointInput.removeAttribute('aria-invalid')
    pointMessage.textContent = 'Drag P on the map, or type coordinates.'
  }

  function readPoint(): void {
    const read = readText(pointInput.value)
    const found = read.ok && 'type' in read.input && read.input.type === 'Point' ? (read.input as Point) : undefined
    pointInput.setAttribute('aria-invalid', String(found === undefined))
    pointMessage.textContent =
      found !== undefined
        ? `Read as ${degreesText(found.coordinates[0], found.coordinates[1], 6)}.`
        : read.ok
          ? 'This is not a point.'
          : read.reason
    if (found !== undefined) movePoint([found.coordinates[0], found.coordinates[1]])
  }

  // The zone, the point, and the address of the page.

  function changeZone(patch: Partial<Zone>): void {
    if (gate !== undefined || isBusy) return
    zone = { ...zone, ...patch }
    remember()
    show()
  }

  function chooseZone(chosen: Zone): void {
    changeZone(chosen)
    point = firstPoint(zone)
    show()
    showAll()
  }

  function movePoint(to: LonLat): void {
    if (isBusy) return
    point = to
    show()
  }

  function query(): URLSearchParams {
    return encodeLink({ chainId, zone, gate })
  }

  function remember(): void {
    if (!isShown) return
    const text = query()
    if (text.toString().length <= MAX_LINK_CHARACTERS) noteQuery('gate', text)
    else {
      noteQuery('gate', new URLSearchParams())
      toast('This zone has too many vertices for the address of the page. A reload loses it.')
    }
  }

  function open(given: URLSearchParams): void {
    const link = decodeLink(given)
    if (typeof link === 'string') {
      toast(link)
      return
    }
    const isSame = JSON.stringify([link.zone, link.gate, link.chainId]) === JSON.stringify([zone, gate, chainId])
    if (isSame) return
    forgetFacts()
    zone = link.zone
    gate = link.gate
    point = firstPoint(zone)
    if (link.chainId !== undefined) {
      chainId = link.chainId
      hasChosenChain = true
    }
    showAll()
  }

  function forget(): void {
    gate = undefined
    forgetFacts()
    remember()
    show()
  }

  function forgetFacts(): void {
    facts = undefined
    admission = undefined
    isUnusable = false
    rejection = undefined
    attested = undefined
    for (const name of ['deploy', 'register', 'call'] as const) delete gas[name]
    for (const { clear } of [deploySteps, sendSteps]) clear()
    for (const slot of [deployProblem, sendProblem]) replace(slot)
    clearTimeout(expiry)
  }

  // The wallet.

  function useIssuer(): void {
    const issuer = parts.issuer()
    if (issuer === undefined) {
      api.issuer().catch((error) => replace(walletPanel.problem, problemOf(error)))
      return
    }
    chainId ??= defaultChainId(issuer)
    if (isShown) remember()
    show()
  }

  async function connect(found: FoundWallet): Promise<void> {
    await act(walletPanel.problem, async () => {
      announce('Choose an account in the wallet …')
      try {
        account = await connectWallet(found.wallet)
      } catch (error) {
        announce('') // the error is announced itself
        throw error
      }
      announce('The wallet is connected.')
      if (wallet !== found.wallet) {
        wallet = found.wallet
        for (const event of ['accountsChanged', 'chainChanged'])
          wallet.on?.(event, () => void followWallet(found.wallet))
      }
      const isUsable = parts.issuer()?.chains.some(({ chainId: id, rpc }) => rpc && id === account?.chainId)
      if (!hasChosenChain && isUsable) chainId = account.chainId
      remember()
      await readState()
    })
  }

  async function followWallet(changed: Wallet): Promise<void> {
    if (isBusy || changed !== wallet || account === undefined) return
    await act(walletPanel.problem, async () => {
      account = await connectWallet(changed)
      await readState()
    })
  }

  async function switchChain(): Promise<void> {
    await act(walletPanel.problem, async () => {
      if (wallet === undefined || chainId === undefined) return
      try {
        const params = [{ chainId: `0x${chainId.toString(16)}` }]
        await wallet.request({ method: 'wallet_switchEthereumChain', params })
      } catch (error) {
        if ((error as { code?: unknown }).code !== UNKNOWN_CHAIN) throw error
        throw new GateFault(`The wallet does not know chain ${chainId}. Add it in the wallet, then try again.`)
      }
      account = await connectWallet(wallet)
      await readState()
    })
  }

  /** Returns who acts, after it has asked the wallet again: its account and chain may have changed. @throws {GateFault} */
  async function requireActor(): Promise<Actor> {
    const used = chain()
    if (wallet === undefined || used === undefined) throw new GateFault('Connect a wallet first.')
    account = await connectWallet(wallet)
    if (account.chainId !== used.chainId) {
      throw new GateFault(
        `The wallet is on chain ${account.chainId}, and the gate is for ${used.name} (${used.chainId}). Switch the chain above, then try again.`,
      )
    }
    return { wallet, address: account.address, chain: used, sender }
  }

  /** Reads the gate and whether it admits the account, if the wallet is on its chain. */
  async function readState(): Promise<void> {
    const used = chain()
    if (wallet === undefined || account === undefined || used === undefined || gate === undefined) return
    if (account.chainId !== used.chainId) return
    const { address } = await api.issuer()
    clearTimeout(expiry)
    try {
      facts = await readGate(wallet, account.address, used, gate, zone, address)
      admission = await readAdmission(wallet, used, facts, account.address)
    } catch (error) {
      if (error instanceof UnusableGate) {
        isUnusable = true
        facts = undefined
        admission = undefined
      }
      throw error
    }
    isUnusable = false
    if (admission.isOpen) expiry = setTimeout(() => void refresh(), refreshDelayMs(admission.untilSeconds, Date.now()))
  }

  async function refresh(): Promise<void> {
    if (isShown && !isBusy) await act(deployProblem, readState)
  }

  // The actions.

  async function deploy(): Promise<void> {
    deploySteps.clear()
    await act(deployProblem, async () => {
      const actor = await requireActor()
      const { address: attester } = await api.issuer()
      if (gate === undefined) {
        const trusted = locator.value.trim() || actor.address
        if (!isAddress(trusted)) throw new GateFault('The location attester is not an address: 0x and 40 hex digits.')
        const deployed = await deployGate(actor, zone, attester, trusted, deploySteps)
        gate = deployed.address
        gas.deploy = deployed.gas
        remember()
      }
      await readState()
      if (facts?.isRegistered === false) gas.register = await registerGate(actor, gate, deploySteps)
      await readState()
      announce('The gate is ready.')
    })
  }

  async function send(): Promise<void> {
    sendSteps.clear()
    rejection = undefined
    await act(sendProblem, async () => {
      const actor = await requireActor()
      await readState()
      if (gate === undefined || facts === undefined) throw new GateFault('Deploy the gate first.')
      try {
        const uid = sameAddress(facts.terms.locationAttester, actor.address)
          ? await attestLocation(
              actor,
              { type: 'Point', coordinates: [...point] },
              attested,
              (made) => (attested = made),
              sendSteps,
            )
          : readUid()
        gas.call = await sendResult(actor, api, zone, facts, uid, sendSteps)
      } catch (error) {
        if (error instanceof Reverted) {
          rejection = error.errorName
          attested = undefined // it may be too old or revoked
          await readState()
        }
        throw error
      }
      await sendSteps.run('Ask the gate.', readState, () =>
        admission?.isOpen === true ? `Open until ${clockUtc(admission.untilSeconds)}.` : 'Closed.',
      )
    })
  }

  function readUid(): string {
    const uid = uidInput.value.trim()
    if (!/^0x[0-9a-fA-F]{64}$/.test(uid))
      throw new GateFault('The UID of a location attestation is 0x and 64 hex digits.')
    return uid
  }

  /** Runs an action: one at a time, and its error is shown in its panel. */
  async function act(problem: HTMLElement, work: () => Promise<void>): Promise<void> {
    if (isBusy) return
    isBusy = true
    replace(problem)
    show()
    try {
      await work()
    } catch (error) {
      replace(problem, problemOf(error))
    } finally {
      isBusy = false
      show()
    }
  }

  // The map.

  function draw(kind: DrawKind, forPoint: boolean): void {
    const isSame = drawing?.kind === kind && drawing.forPoint === forPoint
    drawing?.work.cancel()
    if (base === undefined || engine === undefined || isSame) return
    const before = zone
    handles?.clear()
    const place = (geometry: Geometry) => {
      if (!forPoint) changeZone({ target: geometry })
      else if (geometry.type === 'Point') movePoint([geometry.coordinates[0], geometry.coordinates[1]])
    }
    const work = startDrawing(
      base,
      engine.kernel,
      kind,
      (geometry) => geometry !== undefined && !forPoint && geometry.type !== 'LineString' && place(geometry),
      (geometry) => {
        drawing = undefined
        place(geometry ?? (forPoint ? { type: 'Point', coordinates: [...point] } : before.target))
        show()
      },
    )
    drawing = { kind, forPoint, work }
    show()
    mapSlot.scrollIntoView({ block: 'nearest' })
  }

  function drawAll(): void {
    if (scene === undefined || engine === undefined || !isShown) return
    drawZone(scene, zone, admission?.isOpen === true, engine.kernel)
    const pointShape = {
      slot: 'point',
      letter: 'P',
      className: 'second',
      geometry: { type: 'Point' as const, coordinates: [...point] as [number, number] },
    }
    const zoneShape = { slot: 'zone', letter: 'Z', className: 'first', geometry: zone.target }
    // The zone of a deployed gate cannot be changed.
    if (drawing !== undefined) handles?.show([])
    else handles?.show(gate === undefined ? [zoneShape, pointShape] : [pointShape])
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    if (base === undefined) {
      handles = createHandles(loaded, (slot, geometry) => {
        if (slot === 'zone') changeZone({ target: geometry })
        else if (geometry.type === 'Point') movePoint([geometry.coordinates[0], geometry.coordinates[1]])
      })
      loaded.host.addEventListener('fit', () => isShown && showAll())
    }
    base = loaded
    scene = base.enter(GATE_SCENE)
    drawAll()
    showAll(false)
  }

  function showAll(animate = true): void {
    if (!isShown || engine === undefined) return
    const box = boxOfZone(zone, { type: 'Point', coordinates: [...point] }, engine.kernel)
    if (box !== undefined) base?.fit(box, animate)
  }
}

/** Shows why an action ended: what the service answered, what the contract rejected, or what the wallet said. */
function problemOf(error: unknown): HTMLElement {
  if (error instanceof ApiError || error instanceof ConnectionError) return problemView(error)
  const words = error instanceof GateFault || error instanceof RangeError ? error.message : describeWalletError(error)
  return h('div', { class: 'note bad', role: 'alert' }, h('p', {}, words))
}
