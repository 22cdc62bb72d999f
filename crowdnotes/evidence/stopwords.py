"""The commonest words of some languages; in a search they only slow and mislead.

One set a language, because one language's article is another's content word (German "die").
English comes first: it wins a tie.
"""

from __future__ import annotations

STOP_WORDS: tuple[frozenset[str], ...] = (
    frozenset(
        "a about after again all also am an and any are aren't as at be because been before being but by can can't "
        "cannot could did didn did do does doesn doing don down during each even ever every few for from further "
        "get gets go goes going gonna got had has have having he her here hers him his how i if in into is isn it "
        "its just know let like ll made make makes many may me might more most much must my no nor not now of off "
        "on once one only or other our out over own really re said same say says she should so some such than that "
        "the their them then there these they thing things this those through to too under until up us ve very via "
        "want was we were what when where which while who whom why will with without would yes you your yours".split()
    ),
    frozenset(
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin "
        "sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi "
        "porque qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese "
        "ahora cada e vida otro después te otros aunque esa eso hace".split()
    ),
    frozenset(
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec ils "
        "aux d l son mais comme ou si leur y dont elle deux ces être tout nous sa fait été même on cette n ont c j "
        "je s vous avait peut aussi ses très sans était entre lui faire où bien encore qu".split()
    ),
    frozenset(
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er "
        "hat daß dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber "
        "vor zur bis mehr durch man sein wurde sei ihr wenn wir ich kann diese dieser uns".split()
    ),
    frozenset(
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu "
        "sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos "
        "ter seus quem nas me esse eles estão você tinha foram".split()
    ),
    frozenset(
        "di e il la che in un a per è una non sono si da con i le dei del della come anche ma lo più al gli nel ha "
        "alla o ci se questo delle mi io nella era ho ma dal sua suo essere tra fra ne quando cosa molto tutti cui "
        "perché loro lei lui noi".split()
    ),
    frozenset(
        "de en van het een in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit nog naar door "
        "over ze zich hij zij wij we je ik dit die deze was wordt werd worden heeft hebben kan wel geen meer".split()
    ),
)
